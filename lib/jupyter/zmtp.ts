/**
 * A client for ZeroMQ's wire protocol, ZMTP 3.0 with the NULL mechanism over
 * TCP: as much of it as a Jupyter client needs, for DEALER and SUB sockets.
 *
 * @module
 */

/** The kinds of socket that this client can be. */
export type SocketType = "DEALER" | "SUB";

/** Where to connect, and as what. */
export interface ZmtpOptions {
  /** The kind of socket to present to the other side. */
  readonly type: SocketType;
  /** The TCP port. */
  readonly port: number;
  /** The host's name or address, by default 127.0.0.1. */
  readonly hostname?: string;
}

/** What the other side sent is not ZMTP as this client speaks it. */
export class ZmtpError extends Error {
  /** The name of the class. */
  override name = "ZmtpError";
}

const MORE = 1;
const LONG = 2;
const COMMAND = 4;

/** A frame longer than this is taken for a garbled length. */
const MAX_FRAME = 2 ** 30;

/** An open connection; messages are arrays of frames. */
export class ZmtpSocket {
  readonly #conn: Deno.Conn;
  readonly #reader: ExactReader;
  #sending: Promise<void> = Promise.resolve();

  private constructor(conn: Deno.Conn) {
    this.#conn = conn;
    this.#reader = new ExactReader(conn);
  }

  /**
   * Connects and shakes hands.
   *
   * @throws {Deno.errors.ConnectionRefused} If nothing listens there.
   * @throws {ZmtpError} If what listens there does not speak ZMTP 3 with NULL.
   */
  static async connect(options: ZmtpOptions): Promise<ZmtpSocket> {
    const conn = await Deno.connect({
      hostname: options.hostname ?? "127.0.0.1",
      port: options.port,
    });
    const socket = new ZmtpSocket(conn);
    try {
      await socket.#shakeHands(options.type);
    } catch (error) {
      conn.close();
      throw error;
    }
    return socket;
  }

  /** Sends one message. Messages go out whole and in the order of the calls. */
  send(frames: readonly Uint8Array[]): Promise<void> {
    const bytes = concat(
      frames.map((frame, i) =>
        encodeFrame(frame, i < frames.length - 1 ? MORE : 0)
      ),
    );
    // A failure belongs to its own caller, not to whoever sends next.
    const sent = this.#sending.then(() => writeAll(this.#conn, bytes));
    this.#sending = sent.catch(() => {});
    return sent;
  }

  /**
   * Waits for the next message.
   *
   * @returns Its frames, or `null` when either side has closed the connection.
   * @throws {ZmtpError} If the bytes make no sense.
   */
  async receive(): Promise<Uint8Array[] | null> {
    const frames: Uint8Array[] = [];
    while (true) {
      const frame = await this.#receiveFrame();
      if (frame === null) return null;
      if (frame.flags & COMMAND) continue;
      frames.push(frame.body);
      if (!(frame.flags & MORE)) return frames;
    }
  }

  /** Closes the connection; a pending {@linkcode receive} ends with `null`. */
  close(): void {
    try {
      this.#conn.close();
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource)) throw error;
    }
  }

  async #shakeHands(type: SocketType): Promise<void> {
    await writeAll(this.#conn, greeting());
    const theirs = await this.#reader.read(64);
    if (theirs === null) {
      throw new ZmtpError("the peer closed during the greeting");
    }
    checkGreeting(theirs);
    await writeAll(this.#conn, encodeFrame(readyCommand(type), COMMAND));
    const frame = await this.#receiveFrame();
    if (frame === null) {
      throw new ZmtpError("the peer closed during the handshake");
    }
    const { name, rest } = parseCommand(frame.body);
    if (!(frame.flags & COMMAND) || name !== "READY") {
      const reason = name === "ERROR" ? `: ${latin1(rest.subarray(1))}` : "";
      throw new ZmtpError(
        `expected a READY command, got ${JSON.stringify(name)}${reason}`,
      );
    }
    // An empty prefix subscribes to every topic.
    if (type === "SUB") await this.send([Uint8Array.of(1)]);
  }

  async #receiveFrame(): Promise<{ flags: number; body: Uint8Array } | null> {
    const head = await this.#reader.read(1);
    if (head === null) return null;
    const flags = head[0]!;
    const lengthBytes = await this.#reader.read(flags & LONG ? 8 : 1);
    if (lengthBytes === null) return null;
    let length = 0;
    for (const byte of lengthBytes) length = length * 256 + byte;
    if ((flags & ~(MORE | LONG | COMMAND)) !== 0 || length > MAX_FRAME) {
      throw new ZmtpError(`not a frame: flags ${flags}, length ${length}`);
    }
    const body = await this.#reader.read(length);
    return body === null ? null : { flags, body };
  }
}

/** Reads a stated number of bytes, however the network cuts them up. */
class ExactReader {
  readonly #conn: Deno.Conn;
  #buffer = new Uint8Array(1 << 16);
  #start = 0;
  #end = 0;

  constructor(conn: Deno.Conn) {
    this.#conn = conn;
  }

  /** The next `length` bytes, as a copy, or `null` at the connection's end. */
  async read(length: number): Promise<Uint8Array | null> {
    this.#makeRoom(length);
    while (this.#end - this.#start < length) {
      const count = await this.#readSome();
      if (count === null) return null;
      this.#end += count;
    }
    const bytes = this.#buffer.slice(this.#start, this.#start + length);
    this.#start += length;
    return bytes;
  }

  #makeRoom(length: number): void {
    if (this.#start + length <= this.#buffer.length) return;
    const held = this.#buffer.subarray(this.#start, this.#end);
    if (length > this.#buffer.length) {
      this.#buffer = new Uint8Array(Math.max(length, 2 * this.#buffer.length));
      this.#buffer.set(held);
    } else {
      this.#buffer.copyWithin(0, this.#start, this.#end);
    }
    this.#end -= this.#start;
    this.#start = 0;
  }

  async #readSome(): Promise<number | null> {
    try {
      return await this.#conn.read(this.#buffer.subarray(this.#end));
    } catch (error) {
      // A killed peer resets; a read outstanding at close() is interrupted.
      const ended = error instanceof Deno.errors.ConnectionReset ||
        error instanceof Deno.errors.UnexpectedEof ||
        error instanceof Deno.errors.BadResource ||
        error instanceof Deno.errors.Interrupted;
      if (ended) return null;
      throw error;
    }
  }
}

function greeting(): Uint8Array {
  const bytes = new Uint8Array(64);
  bytes[0] = 0xff;
  bytes[9] = 0x7f;
  bytes[10] = 3;
  bytes.set(new TextEncoder().encode("NULL"), 12);
  return bytes;
}

function checkGreeting(bytes: Uint8Array): void {
  const mechanism = latin1(bytes.subarray(12, 32)).replace(/\0+$/, "");
  if (bytes[0] !== 0xff || bytes[9] !== 0x7f || bytes[10]! < 3) {
    throw new ZmtpError("the peer does not speak ZMTP 3");
  }
  if (mechanism !== "NULL") {
    throw new ZmtpError(
      `the peer wants the mechanism ${mechanism}; only NULL is spoken here`,
    );
  }
}

function readyCommand(type: SocketType): Uint8Array {
  const name = new TextEncoder().encode("Socket-Type");
  const value = new TextEncoder().encode(type);
  return concat([
    shortString("READY"),
    Uint8Array.of(name.length),
    name,
    Uint8Array.of(0, 0, 0, value.length),
    value,
  ]);
}

function parseCommand(body: Uint8Array): { name: string; rest: Uint8Array } {
  const length = body[0] ?? 0;
  return {
    name: latin1(body.subarray(1, 1 + length)),
    rest: body.subarray(1 + length),
  };
}

function shortString(text: string): Uint8Array {
  return concat([Uint8Array.of(text.length), new TextEncoder().encode(text)]);
}

function encodeFrame(body: Uint8Array, flags: number): Uint8Array {
  if (body.length < 256) {
    return concat([Uint8Array.of(flags, body.length), body]);
  }
  const head = new Uint8Array(9);
  head[0] = flags | LONG;
  new DataView(head.buffer).setBigUint64(1, BigInt(body.length));
  return concat([head, body]);
}

async function writeAll(conn: Deno.Conn, bytes: Uint8Array): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    written += await conn.write(bytes.subarray(written));
  }
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(
    parts.reduce((sum, part) => sum + part.length, 0),
  );
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}
