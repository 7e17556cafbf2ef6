/**
 * How a function reaches a worker: as an export of a module, or as its own text.
 *
 * @module
 */

/** A function's home: the worker imports the module and takes the export, or the export's `run`. */
export interface CellSource {
  /** URL of the module. */
  readonly module: string;
  /** Name of the export; `default` if absent. */
  readonly name?: string | undefined;
}

/**
 * What is run for each cell. A second parameter, where there is one, is the module `@truesize/lab`: what a function that
 * travels as text has instead of imports.
 */
// deno-lint-ignore no-explicit-any
export type CellFunction = (cell: any, lab: any) => unknown;

/** What one cell gave: its value, or the error that it ended with. */
export type Outcome<R> =
  | { readonly value: R; readonly error?: undefined }
  | { readonly value?: undefined; readonly error: string };

/** What a worker is told at its start. */
export type WorkerTask =
  | { readonly kind: "module"; readonly module: string; readonly name: string }
  | { readonly kind: "text"; readonly text: string };

/** What a worker says. */
export type WorkerReply =
  | { readonly kind: "ready" }
  | { readonly kind: "unusable"; readonly message: string }
  | { readonly kind: "done"; readonly outcome: Outcome<unknown> };

/** An error in a line, the same on every machine: no stack, which holds paths. */
export function errorLine(error: unknown): string {
  return error instanceof Error
    ? `${error.name}: ${error.message}`
    : `thrown: ${String(error)}`;
}

/**
 * The function that a text holds: an arrow function, a function or a method.
 *
 * @param text What `String(f)` gives.
 * @throws {TypeError} It is the text of no function: of a bound or a built-in one.
 */
export function functionOf(text: string): CellFunction {
  for (
    const body of [
      `return (${text})`,
      // A method's text stands in an object only.
      `return Object.values({ ${text} })[0]`,
    ]
  ) {
    try {
      const made = new Function(body)();
      if (typeof made === "function") return made;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  throw new TypeError(
    `run cannot be sent to a worker as text (${
      text.slice(0, 40)
    }…): give a plain function, the module that exports it, or workers: 0`,
  );
}

/**
 * The function that a module's export is or has as `run`.
 *
 * @param source Module and export.
 * @throws {TypeError} There is no such function.
 */
export async function importedFunction(
  source: CellSource,
): Promise<CellFunction> {
  const { module, name = "default" } = source;
  const exported = (await import(module))[name];
  const run = typeof exported === "function" ? exported : exported?.run;
  if (typeof run !== "function") {
    throw new TypeError(
      `${
        module.slice(module.lastIndexOf("/") + 1)
      } exports no function "${name}" and no object "${name}" with a function run`,
    );
  }
  return run;
}

/** The module that a function asks for by a second parameter. */
export async function labFor(run: CellFunction): Promise<unknown> {
  return run.length < 2
    ? undefined
    : await import(new URL("../../mod.ts", import.meta.url).href);
}
