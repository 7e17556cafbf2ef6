/**
 * `deno task lab`: opens the notebooks in JupyterLab, or else in the classic
 * Notebook.
 *
 * @module
 */

import { join } from "node:path";
import { fileURLToPath } from "node:url";

const HELP =
  `Opens the notebooks in JupyterLab or, without it, in the classic Notebook.

  deno task lab [ARGUMENT…]

Installs the Deno kernel for Jupyter, trusts the notebooks of notebooks/, so
that their drawings show at once, and starts Jupyter there. Arguments are handed
to Jupyter, for instance --no-browser.

  --help   print this text
`;

const MISSING = `Jupyter is not installed, or not on PATH. To get it:

  Debian, Ubuntu   apt install jupyter-notebook jupyter-nbformat
  pip              pip install jupyterlab
  conda            conda install -c conda-forge jupyterlab

Without it: deno task notebooks executes the notebooks, and VS Code with its
Jupyter extension opens them, with the kernel that deno jupyter --install adds.`;

const FOLDER = join(fileURLToPath(new URL("..", import.meta.url)), "notebooks");

/** Runs a program quietly; whether it is there and succeeds. */
async function succeeds(
  program: string,
  args: readonly string[],
): Promise<boolean> {
  try {
    const { success } = await new Deno.Command(program, {
      args: [...args],
      cwd: FOLDER,
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).output();
    return success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** The subcommand of `jupyter` that opens notebooks here, if there is one. */
async function findFrontEnd(): Promise<"lab" | "notebook" | undefined> {
  for (const name of ["lab", "notebook"] as const) {
    if (await succeeds("jupyter", [name, "--version"])) return name;
  }
  return undefined;
}

async function installKernel(): Promise<void> {
  // Under npx this Deno's path changes, so a kernel installed earlier may be gone.
  if (await succeeds(Deno.execPath(), ["jupyter", "--install", "--force"])) {
    return;
  }
  console.error(
    "The Deno kernel could not be installed; see: deno jupyter --install --force",
  );
}

async function trustNotebooks(): Promise<void> {
  const names = [...Deno.readDirSync(FOLDER)]
    .filter((entry) => entry.isFile && entry.name.endsWith(".ipynb"))
    .map((entry) => entry.name);
  if (names.length === 0 || await succeeds("jupyter", ["trust", ...names])) {
    return;
  }
  console.error(
    "The notebooks could not be trusted (on Debian that takes the package jupyter-nbformat): " +
      "drawings show as pictures until their cells are run.",
  );
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) {
    console.log(HELP.trimEnd());
    return 0;
  }
  const frontEnd = await findFrontEnd();
  if (frontEnd === undefined) {
    console.error(MISSING);
    return 1;
  }
  await installKernel();
  await trustNotebooks();
  // Jupyter itself asks what Ctrl-C means, so leave the answer to it.
  Deno.addSignalListener("SIGINT", () => {});
  const child = new Deno.Command("jupyter", {
    args: [frontEnd, ...args],
    cwd: FOLDER,
  }).spawn();
  return (await child.status).code;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
