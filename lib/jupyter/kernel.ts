/**
 * A Deno Jupyter kernel as a child process, spoken to directly: no Jupyter and
 * no kernelspec are needed.
 *
 * @module
 */

import { KernelProcess } from "./kernel_process.ts";
import {
  decodeMessage,
  encodeMessage,
  makeRequest,
  type Message,
} from "./messages.ts";
import { OutputCollector } from "./outputs.ts";
import type { Output } from "./notebook.ts";
import { delay, endsWithin, withTimeLimit } from "./timing.ts";
import { ZmtpSocket } from "./zmtp.ts";

/** How to start a kernel. */
export interface KernelOptions {
  /** The kernel's working folder, from which it looks for `deno.json` upwards. */
  readonly cwd: string;
  /** How long the kernel may take to answer, in ms; by default 30,000. */
  readonly startTimeoutMs?: number;
}

/** What became of a cell. */
export interface CellResult {
  /** The request's message id, to ask for its outputs. */
  readonly id: string;
  /** Whether it ran to its end. */
  readonly status: "ok" | "error";
  /** The cell's place in the order of runs. */
  readonly executionCount: number | null;
  /** The error's name; empty if there is none, or if the cell was not even parsed. */
  readonly ename: string;
  /** The error's message. */
  readonly evalue: string;
  /** The lines of the error's stack, if it has one. */
  readonly traceback: readonly string[];
}

/** The kernel ended, or was ended, while something was awaited from it. */
export class KernelDiedError extends Error {
  /** The name of the class. */
  override name = "KernelDiedError";
}

/** A late output follows `idle` by up to 10 ms; this much silence is enough. */
const QUIET_MS = 40;
/** Something that never falls silent must not hold the notebook up. */
const MAX_SETTLE_MS = 2000;
const RETRY_MS = 25;
const ASK_AGAIN_MS = 200;
const SHUTDOWN_MS = 2000;

interface Pending {
  readonly resolve: (reply: Message) => void;
  readonly reject: (error: Error) => void;
  reply: Message | undefined;
  idle: boolean;
}

/** A running kernel. End it with {@linkcode Kernel.shutdown}, or declare it with `await using`. */
export class Kernel implements AsyncDisposable {
  readonly #process: KernelProcess;
  readonly #session = crypto.randomUUID();
  readonly #pending = new Map<string, Pending>();
  readonly #outputs = new OutputCollector();
  readonly #sockets: ZmtpSocket[] = [];
  readonly #loops: Promise<void>[] = [];
  #lastMessage = 0;
  #ended = false;

  private constructor(process: KernelProcess) {
    this.#process = process;
    process.died.then((reason) =>
      this.#failPending(new KernelDiedError(reason))
    );
  }

  /**
   * Starts a kernel and waits until it answers on every channel.
   *
   * @throws {KernelDiedError} If it ends, or does not answer in time; the
   * message carries what it printed.
   */
  static async start(options: KernelOptions): Promise<Kernel> {
    const timeoutMs = options.startTimeoutMs ?? 30_000;
    // Another process may take a free port before the kernel does.
    for (let attempt = 1;; attempt++) {
      const kernel = new Kernel(await KernelProcess.spawn(options.cwd));
      try {
        await withTimeLimit(
          kernel.#connect(),
          timeoutMs,
          () =>
            new KernelDiedError(
              `the kernel did not answer within ${timeoutMs} ms`,
            ),
        );
        return kernel;
      } catch (error) {
        const portTaken = kernel.#process.hasEnded &&
          /address.*in use/i.test(String(error));
        await kernel.kill();
        if (!portTaken || attempt === 3) throw error;
      }
    }
  }

  /** The operating system's number of the kernel's process. */
  get pid(): number {
    return this.#process.pid;
  }

  /**
   * Runs code and waits for its end. Outputs may still follow: call
   * {@linkcode Kernel.settle} before {@linkcode Kernel.outputsOf}.
   *
   * @param code The cell's source.
   * @param timeoutMs How long it may run. A kernel cannot be interrupted, so
   * one that takes longer is killed.
   * @returns How it ended; a cell that throws does not make this throw.
   * @throws {KernelDiedError} If the kernel ends meanwhile, or took too long.
   */
  async execute(code: string, timeoutMs: number): Promise<CellResult> {
    const request = makeRequest("execute_request", {
      code,
      silent: false,
      store_history: true,
      user_expressions: {},
      allow_stdin: false,
      stop_on_error: true,
    }, this.#session);
    const reply = await withTimeLimit(this.#ask(request), timeoutMs, () => {
      this.#process.kill();
      return new KernelDiedError(
        `it ran for more than ${timeoutMs} ms, so the kernel was killed`,
      );
    });
    const { status, execution_count, ename, evalue, traceback } = reply.content;
    return {
      id: request.header.msg_id,
      status: status === "ok" ? "ok" : "error",
      executionCount: typeof execution_count === "number"
        ? execution_count
        : null,
      ename: String(ename ?? ""),
      evalue: String(evalue ?? ""),
      traceback: Array.isArray(traceback) ? traceback.map(String) : [],
    };
  }

  /**
   * Waits until no output is late any more: the kernel has been silent for a moment, then answered a question, and been
   * silent again. On a busy machine silence alone may be a pause.
   */
  async settle(): Promise<void> {
    const start = performance.now();
    this.#lastMessage = start;
    let asked = false;
    while (performance.now() - start < MAX_SETTLE_MS) {
      const rest = this.#lastMessage + QUIET_MS - performance.now();
      if (rest > 0) {
        await delay(rest);
      } else if (asked) {
        return;
      } else {
        asked = true;
        const question = makeRequest("kernel_info_request", {}, this.#session);
        await endsWithin(this.#ask(question), MAX_SETTLE_MS);
      }
    }
  }

  /** What a request has shown so far; see {@linkcode CellResult.id}. */
  outputsOf(id: string): Output[] {
    return this.#outputs.of(id);
  }

  /** Asks the kernel to end, and kills it if it does not. */
  async shutdown(): Promise<void> {
    if (this.#ended) return;
    const control = this.#sockets[2];
    const request = makeRequest(
      "shutdown_request",
      { restart: false },
      this.#session,
    );
    if (control !== undefined && !this.#process.hasEnded) {
      await control.send(encodeMessage(request, this.#process.key)).catch(
        () => {},
      );
      await endsWithin(this.#process.died, SHUTDOWN_MS);
    }
    await this.kill();
  }

  /** Ends the kernel at once. */
  async kill(): Promise<void> {
    this.#ended = true;
    this.#process.kill();
    for (const socket of this.#sockets) socket.close();
    await Promise.all([...this.#loops, this.#process.close()]);
  }

  /** Same as {@linkcode Kernel.shutdown}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  async #connect(): Promise<void> {
    const { shell, iopub, control } = this.#process.ports;
    const channels = [["DEALER", shell], ["SUB", iopub], [
      "DEALER",
      control,
    ]] as const;
    for (const [type, port] of channels) {
      const socket = await this.#connectOnce(type, port);
      this.#sockets.push(socket);
      // A limit on the start may have passed meanwhile.
      if (this.#ended) socket.close();
      this.#loops.push(this.#listen(socket, type === "SUB"));
    }
    // A subscription takes effect late, so ask until an answer's idle is seen.
    while (true) {
      const request = makeRequest("kernel_info_request", {}, this.#session);
      if (await endsWithin(this.#ask(request), ASK_AGAIN_MS)) return;
      this.#pending.delete(request.header.msg_id);
    }
  }

  async #connectOnce(
    type: "DEALER" | "SUB",
    port: number,
  ): Promise<ZmtpSocket> {
    while (true) {
      try {
        return await ZmtpSocket.connect({ type, port });
      } catch (error) {
        if (!(error instanceof Deno.errors.ConnectionRefused)) throw error;
      }
      if (this.#process.hasEnded || this.#ended) {
        throw new KernelDiedError(await this.#process.died);
      }
      await delay(RETRY_MS);
    }
  }

  async #listen(socket: ZmtpSocket, isOutput: boolean): Promise<void> {
    try {
      while (true) {
        const frames = await socket.receive();
        if (frames === null) return;
        this.#handle(decodeMessage(frames, this.#process.key), isOutput);
      }
    } catch (error) {
      if (!this.#ended) this.#failPending(error as Error);
    }
  }

  #handle(message: Message, isOutput: boolean): void {
    this.#lastMessage = performance.now();
    if (isOutput) this.#outputs.add(message);
    const id = message.parent_header.msg_id ?? "";
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    if (!isOutput) pending.reply = message;
    else if (message.content.execution_state === "idle") pending.idle = true;
    if (pending.reply === undefined || !pending.idle) return;
    this.#pending.delete(id);
    pending.resolve(pending.reply);
  }

  /** Sends a request on shell; done when both its reply and its `idle` are in. */
  async #ask(request: Message): Promise<Message> {
    if (this.#process.hasEnded || this.#ended) {
      throw new KernelDiedError(await this.#process.died);
    }
    const { promise, resolve, reject } = Promise.withResolvers<Message>();
    this.#pending.set(request.header.msg_id, {
      resolve,
      reject,
      reply: undefined,
      idle: false,
    });
    const sent = this.#sockets[0]!.send(
      encodeMessage(request, this.#process.key),
    );
    // When sending fails the kernel is gone, and its death rejects the promise.
    sent.catch(() => {});
    return await promise;
  }

  #failPending(error: Error): void {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}
