/** A task's flags, said once: what it takes, and what --help prints. */

import process from "node:process";
import { parseArgs } from "node:util";

/** What a flag takes ("" for a switch), and its line of help. */
export type Flags = Record<string, readonly [takes: string, help: string]>;

/** The flags that were given. */
export type Given<F extends Flags> = {
  readonly [K in keyof F]?: F[K][0] extends "" ? boolean : string;
};

/** Ends a task that cannot do what it was asked for. */
export function failer(task: string): (message: string) => never {
  return (message) => {
    console.error(`${task}: ${message}`);
    process.exit(2);
  };
}

/**
 * Reads the flags of the command line. --help ends the task with its help, an unknown flag with the help and exit code 2.
 *
 * @param task The task's name.
 * @param head How it is called, and what it does.
 * @param flags Its flags.
 * @param tail What its exit codes mean.
 */
export function readFlags<const F extends Flags>(
  task: string,
  head: string,
  flags: F,
  tail: string,
): { values: Given<F>; help: string } {
  const all: Flags = { ...flags, help: ["", "this text"] };
  const names = Object.keys(all);
  const left = names.map((name) => `--${name} ${all[name]![0]}`.trim());
  const width = Math.max(...left.map((text) => text.length));
  const indent = `\n${" ".repeat(width + 4)}`;
  const help = `${head}\n\n${
    left.map((text, i) =>
      `  ${text.padEnd(width)}  ${all[names[i]!]![1].replaceAll("\n", indent)}`
    ).join("\n")
  }\n\n${tail}`;
  try {
    const { values } = parseArgs({
      args: Deno.args,
      options: Object.fromEntries(
        names.map((name) => [
          name,
          { type: all[name]![0] === "" ? "boolean" : "string" },
        ]),
      ),
      strict: true,
    });
    if (values.help) {
      console.log(help);
      process.exit(0);
    }
    return { values: values as Given<F>, help };
  } catch (error) {
    return failer(task)(`${(error as Error).message}\n\n${help}`);
  }
}
