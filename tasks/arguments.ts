/** The command line of a task: `--help` prints its help, a mistake is a sentence, the help and exit code 2. */

import { parseArgs, type ParseArgsConfig } from "node:util";

/** What a task expects. */
type Config = Omit<ParseArgsConfig, "args" | "strict">;

/**
 * Reads the words behind `deno task NAME`.
 *
 * @param name The task.
 * @param help Its help text.
 * @param config Its options, as `parseArgs` of node:util takes them; one of them is `help`.
 */
export function readArguments<const T extends Config>(
  name: string,
  help: string,
  config: T,
): ReturnType<typeof parseArgs<T & { strict: true }>> {
  let parsed;
  try {
    parsed = parseArgs<T & { strict: true }>({
      ...config,
      args: Deno.args,
      strict: true,
    });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return refuse(name, help, error.message);
  }
  if ((parsed.values as Record<string, unknown>).help) {
    console.log(help);
    Deno.exit(0);
  }
  return parsed;
}

/** Ends a task that was called wrongly. */
export function refuse(name: string, help: string, message: string): never {
  console.error(`${name}: ${message}\n\n${help}`);
  Deno.exit(2);
}
