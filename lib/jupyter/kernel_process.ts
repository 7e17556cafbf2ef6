/**
 * The kernel's process: its connection file, its output, and its end, also when
 * our own process is told to end.
 *
 * @module
 */

import { endsWithin } from "./timing.ts";

/** The TCP ports of a kernel's channels. */
export interface KernelPorts {
  /** Requests to run code, and their replies. */
  readonly shell: number;
  /** What the kernel publishes: outputs and states. */
  readonly iopub: number;
  /** Requests for input, which are not used. */
  readonly stdin: number;
  /** Requests to end. */
  readonly control: number;
  /** Signs of life, which are not used. */
  readonly heartbeat: number;
}

const SIGNALS: readonly Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT"]
  : ["SIGINT", "SIGTERM", "SIGHUP"];

/** How much of the kernel's own printing is kept for messages. */
const KEPT_CHARACTERS = 4000;
/** A grandchild may keep the pipes open after the kernel's end. */
const DRAIN_MS = 500;

/** A `deno jupyter --kernel` child process. */
export class KernelProcess {
  /** What its messages are signed with. */
  readonly key: string;
  /** Where it listens, or soon will. */
  readonly ports: KernelPorts;
  /** Resolves when the process has ended, to a sentence about how. */
  readonly died: Promise<string>;

  readonly #child: Deno.ChildProcess;
  readonly #file: string;
  readonly #readers: ReadableStreamDefaultReader<string>[];
  readonly #drained: Promise<unknown>;
  #printed = "";
  #hasEnded = false;

  private constructor(
    child: Deno.ChildProcess,
    file: string,
    key: string,
    ports: KernelPorts,
  ) {
    this.#child = child;
    this.#file = file;
    this.key = key;
    this.ports = ports;
    this.#readers = [child.stdout, child.stderr].map((stream) =>
      stream.pipeThrough(new TextDecoderStream()).getReader()
    );
    this.#drained = Promise.all(
      this.#readers.map((reader) => this.#drain(reader)),
    );
    this.died = this.#watch();
    for (const signal of SIGNALS) {
      Deno.addSignalListener(signal, this.#onSignal[signal]!);
    }
  }

  /** Starts a kernel in the folder `cwd`. */
  static async spawn(cwd: string): Promise<KernelProcess> {
    const key = crypto.randomUUID();
    const ports = freePorts();
    const file = await Deno.makeTempFile({
      prefix: "truesize-kernel-",
      suffix: ".json",
    });
    await Deno.writeTextFile(
      file,
      JSON.stringify({
        transport: "tcp",
        ip: "127.0.0.1",
        signature_scheme: "hmac-sha256",
        key,
        shell_port: ports.shell,
        iopub_port: ports.iopub,
        stdin_port: ports.stdin,
        control_port: ports.control,
        hb_port: ports.heartbeat,
      }),
    );
    try {
      const child = new Deno.Command(Deno.execPath(), {
        args: ["jupyter", "--kernel", "--conn", file],
        cwd,
        // Colours would become part of the outputs.
        env: { NO_COLOR: "1" },
        stdin: "null",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
      return new KernelProcess(child, file, key, ports);
    } catch (error) {
      await Deno.remove(file);
      throw error;
    }
  }

  /** The operating system's number of the process. */
  get pid(): number {
    return this.#child.pid;
  }

  /** Whether the process has ended. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Ends the process at once, if it still runs. */
  kill(): void {
    if (this.#hasEnded) return;
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It ended meanwhile.
    }
  }

  /** Waits for the process to end, and frees all it held. */
  async close(): Promise<void> {
    await this.died;
    for (const reader of this.#readers) await reader.cancel();
    await this.#drained;
    for (const signal of SIGNALS) {
      Deno.removeSignalListener(signal, this.#onSignal[signal]!);
    }
    await Deno.remove(this.#file).catch(() => {});
  }

  readonly #onSignal: Partial<Record<Deno.Signal, () => void>> = Object
    .fromEntries(
      SIGNALS.map((signal) => [signal, () => this.#endWith(signal)]),
    );

  /** A kernel outlives its parent, so it must go first. */
  #endWith(signal: Deno.Signal): void {
    this.kill();
    try {
      Deno.removeSync(this.#file);
    } catch {
      // It is gone already.
    }
    for (const s of SIGNALS) Deno.removeSignalListener(s, this.#onSignal[s]!);
    Deno.kill(Deno.pid, signal);
  }

  async #watch(): Promise<string> {
    const { code, signal } = await this.#child.status;
    this.#hasEnded = true;
    await endsWithin(this.#drained, DRAIN_MS);
    const how = signal === null
      ? `ended with code ${code}`
      : `was ended by ${signal}`;
    const printed = this.#printed.replace(
      /^Warning "deno jupyter" is unstable.*$/m,
      "",
    ).trim();
    return `the kernel ${how}${printed && `, having printed:\n${printed}`}`;
  }

  async #drain(reader: ReadableStreamDefaultReader<string>): Promise<void> {
    while (true) {
      const { done, value } = await reader.read();
      if (done) return;
      this.#printed = (this.#printed + value).slice(-KEPT_CHARACTERS);
    }
  }
}

/** Ports that are free now; held together so that all five differ. */
function freePorts(): KernelPorts {
  const listeners = Array.from(
    { length: 5 },
    () => Deno.listen({ hostname: "127.0.0.1", port: 0 }),
  );
  const ports = listeners.map((listener) => listener.addr.port);
  for (const listener of listeners) listener.close();
  const [shell, iopub, stdin, control, heartbeat] = ports as [
    number,
    number,
    number,
    number,
    number,
  ];
  return { shell, iopub, stdin, control, heartbeat };
}
