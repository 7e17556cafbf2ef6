/** Runs Deno in a process of its own, as a user does. */

/** The project's folder. */
export const ROOT = new URL("../", import.meta.url).pathname;

/** What a command left. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/**
 * Runs `deno` in the project's folder.
 *
 * @param args The arguments.
 * @param input What it reads on standard input.
 */
export async function runDeno(
  args: readonly string[],
  input = "",
): Promise<Ran> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  // A child that ends before it reads is judged by what it left.
  await new Blob([input]).stream().pipeTo(child.stdin).catch(() => {});
  const { code, stdout, stderr } = await child.output();
  const [out, err] = [stdout, stderr].map((bytes) =>
    new TextDecoder().decode(bytes)
  );
  return { code, out: out!, err: err! };
}
