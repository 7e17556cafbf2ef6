/** The real Jupyter and a real browser, for the tests that want them. */

import { delimiter, join } from "node:path";
import type { Browser } from "playwright-core";

/** Fails instead of skipping where Jupyter or Chromium is missing. */
export const DEMANDED: boolean =
  Deno.env.get("TRUESIZE_DEMAND_BROWSER") === "1";

/** The programs that a browser test needs; `undefined` for those that are not installed. */
export const PROGRAMS = {
  nbconvert: findProgram("jupyter-nbconvert"),
  notebook: findProgram("jupyter-notebook"),
  chromium: findProgram("chromium", "chromium-browser", "google-chrome"),
};

/** Whether browser tests are to be skipped: something is missing, and nobody demands them. */
export const SKIPPED: boolean = !DEMANDED &&
  Object.values(PROGRAMS).some((path) => path === undefined);

/** The path of a program that a test cannot do without. */
export function program(name: keyof typeof PROGRAMS): string {
  const path = PROGRAMS[name];
  if (path === undefined) {
    throw new Error(`${name} is demanded and not installed`);
  }
  return path;
}

/** Opens a browser for as long as `use` takes. */
export async function withBrowser(
  use: (browser: Browser) => Promise<void>,
): Promise<void> {
  // Only where it is used: the package is large.
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({
    executablePath: program("chromium"),
  });
  try {
    await use(browser);
  } finally {
    await browser.close();
  }
}

/**
 * An environment in which Jupyter knows this very Deno as the kernel "deno" and
 * trusts no notebook, whatever the user has installed or trusted.
 */
export async function jupyterEnvironment(
  folder: string,
): Promise<Record<string, string>> {
  const data = join(folder, "data");
  const kernel = join(data, "kernels", "deno");
  await Deno.mkdir(kernel, { recursive: true });
  const spec = {
    argv: [
      Deno.execPath(),
      "jupyter",
      "--kernel",
      "--conn",
      "{connection_file}",
    ],
    display_name: "Deno",
    language: "typescript",
  };
  await Deno.writeTextFile(join(kernel, "kernel.json"), JSON.stringify(spec));
  return {
    JUPYTER_DATA_DIR: data,
    JUPYTER_CONFIG_DIR: join(folder, "config"),
    JUPYTER_RUNTIME_DIR: join(folder, "runtime"),
    IPYTHONDIR: join(folder, "ipython"),
    NO_COLOR: "1",
  };
}

/** Runs nbconvert; its log becomes the error's message when it fails. */
export async function nbconvert(
  args: readonly string[],
  env: Record<string, string>,
): Promise<void> {
  const { success, stderr } = await new Deno.Command(program("nbconvert"), {
    args: [...args],
    env,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) {
    throw new Error(`nbconvert failed:\n${new TextDecoder().decode(stderr)}`);
  }
}

/** A classic Notebook server on loopback, without a token. */
export class NotebookServer implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #url: string;

  private constructor(child: Deno.ChildProcess, url: string) {
    this.#child = child;
    this.#url = url;
  }

  /** Starts a server of a folder's notebooks and waits until it answers. */
  static async start(
    folder: string,
    env: Record<string, string>,
  ): Promise<NotebookServer> {
    const port = freePort();
    const child = new Deno.Command(program("notebook"), {
      args: [
        "--allow-root",
        "--no-browser",
        "--ip=127.0.0.1",
        `--port=${port}`,
        "--port-retries=0",
        "--NotebookApp.token=",
        "--NotebookApp.password=",
        `--notebook-dir=${folder}`,
      ],
      env,
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    const server = new NotebookServer(child, `http://127.0.0.1:${port}`);
    for (let i = 0; i < 300; i++) {
      if (await server.#answers()) return server;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await server[Symbol.asyncDispose]();
    throw new Error("the Notebook server did not answer within 30 s");
  }

  /** The page of a notebook in the server's folder. */
  pageOf(name: string): string {
    return `${this.#url}/notebooks/${name}`;
  }

  /** Ends the server, which ends the kernels it started. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), 10_000);
    await this.#child.status;
    clearTimeout(timer);
  }

  async #answers(): Promise<boolean> {
    try {
      const response = await fetch(`${this.#url}/api`);
      await response.body?.cancel();
      return response.ok;
    } catch {
      return false;
    }
  }
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

function findProgram(...names: string[]): string | undefined {
  const folders = (Deno.env.get("PATH") ?? "").split(delimiter);
  for (const name of names) {
    for (const folder of folders) {
      const path = join(folder, name);
      try {
        if (Deno.statSync(path).isFile) return path;
      } catch {
        // Not here.
      }
    }
  }
  return undefined;
}
