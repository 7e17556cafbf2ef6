/**
 * The words that `ss` prints after a socket's addresses: skmem, users, timer, and how a line falls into words.
 *
 * @module
 */

import { HostFormatError, type HostLine, wholeWord } from "./text.ts";

const SOURCE = "ss";

/**
 * A socket's memory, as `ss -m` prints it: `skmem:(r…,rb…,t…,tb…,f…,w…,o…,bl…,d…)`, from `sk_get_meminfo` of
 * net/core/sock.c (SO_MEMINFO). Bytes, apart from `d`.
 */
export interface SkMem {
  /** `sk_rmem_alloc`: truesize of what waits to be read. */
  r: number;
  /** `sk_rcvbuf`. */
  rb: number;
  /** `sk_wmem_alloc`: truesize of what was handed down for sending. */
  t: number;
  /** `sk_sndbuf`. */
  tb: number;
  /** `sk_forward_alloc`: reserved and not used. ss prints it unsigned; a negative one is given back its sign. */
  f: number;
  /** `sk_wmem_queued`: truesize of the send queue. */
  w: number;
  /** `sk_omem_alloc`: options and filters. Absent before iproute2 3.6. */
  o?: number;
  /** Backlog length. Absent before iproute2 3.8. */
  bl?: number;
  /** Packets dropped before they were queued (`sk_drops`), a count. Absent before iproute2 4.11. */
  d?: number;
  /** What a later release may add, by its letters. */
  other?: Record<string, number>;
}

const SKMEM = ["r", "rb", "t", "tb", "f", "w", "o", "bl", "d"] as const;
const U32 = 0xffffffff;

/**
 * Words between blanks, where brackets and quotes hold blanks together.
 *
 * @throws {HostFormatError} A bracket or a quote is not closed.
 */
export function ssWords(at: HostLine, text: string): string[] {
  const words: string[] = [];
  let depth = 0, start = -1;
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (c === " " || c === "\t") {
      if (depth === 0 && start >= 0) {
        words.push(text.slice(start, i));
        start = -1;
      }
      continue;
    }
    if (start < 0) start = i;
    if (c === '"') {
      const end = text.indexOf('"', i + 1);
      if (end < 0) throw new HostFormatError(SOURCE, at, "quote not closed");
      i = end;
    } else if (c === "(") depth++;
    else if (c === ")" && --depth < 0) {
      throw new HostFormatError(SOURCE, at, "bracket not opened");
    }
  }
  if (depth > 0) throw new HostFormatError(SOURCE, at, "bracket not closed");
  if (start >= 0) words.push(text.slice(start));
  return words;
}

function inBrackets(at: HostLine, what: string, value: string): string {
  if (!value.startsWith("(") || !value.endsWith(")") || value.length < 2) {
    throw new HostFormatError(
      SOURCE,
      at,
      `${what} must stand in brackets, got ${JSON.stringify(value)}`,
    );
  }
  return value.slice(1, -1);
}

/** `skmem:(…)` and the older `mem:(…)`, by letters. */
export function memoryLetters(
  at: HostLine,
  what: string,
  value: string,
): Map<string, number> {
  const letters = new Map<string, number>();
  for (const item of inBrackets(at, what, value).split(",")) {
    const [, name, digits] = /^([a-z]+)(\d+)$/.exec(item) ?? [];
    if (name === undefined || letters.has(name)) {
      throw new HostFormatError(
        SOURCE,
        at,
        name === undefined
          ? `${what} holds ${JSON.stringify(item)}, not letters and a number`
          : `${what} holds ${name} twice`,
      );
    }
    letters.set(name, wholeWord(SOURCE, at, `${what} ${name}`, digits, U32));
  }
  return letters;
}

/** `skmem:(…)`. */
export function skmemOf(at: HostLine, value: string): SkMem {
  const letters = memoryLetters(at, "skmem", value);
  const memory: Partial<SkMem> = {};
  for (const name of SKMEM) {
    const bytes = letters.get(name);
    if (bytes === undefined) {
      if (name === "o" || name === "bl" || name === "d") continue;
      throw new HostFormatError(SOURCE, at, `skmem lacks ${name}`);
    }
    memory[name] = name === "f" ? bytes | 0 : bytes;
    letters.delete(name);
  }
  if (letters.size > 0) memory.other = Object.fromEntries(letters);
  return memory as SkMem;
}

/** A process that holds a socket, as `ss -p` prints it. */
export interface SsUser {
  /** Name of the process. */
  command: string;
  /** Process id. */
  pid: number;
  /** File descriptor. */
  fd: number;
  /** What else stands there (security contexts), as printed; absent if nothing does. */
  other?: string;
}

const USER =
  /^\("([^"]*)",(?:pid=)?(\d+)((?:,[a-z_]+=[^,()"]*)*?),(?:fd=)?(\d+)((?:,[a-z_]+=[^,()"]*)*)\)(,|$)/;

/** `users:(("name",pid=1,fd=2),…)`, and iproute2 3.x's `users:(("name",1,2))`. */
export function usersOf(at: HostLine, value: string): SsUser[] {
  const users: SsUser[] = [];
  let rest = inBrackets(at, "users", value);
  while (rest !== "") {
    const match = USER.exec(rest);
    if (match === null) {
      throw new HostFormatError(
        SOURCE,
        at,
        `users holds ${JSON.stringify(rest)}, not ("name",pid=…,fd=…)`,
      );
    }
    const [all, command, pid, between, fd, after] = match;
    const other = `${between}${after}`.slice(1);
    users.push({
      command: command!,
      pid: wholeWord(SOURCE, at, "pid", pid, U32),
      fd: wholeWord(SOURCE, at, "fd", fd, U32),
      ...(other === "" ? {} : { other }),
    });
    rest = rest.slice(all.length);
  }
  return users;
}

/** A socket's timer, as `ss -o` prints it. */
export interface SsTimer {
  /** `on`, `keepalive`, `timewait`, `persist` or `unknown`. */
  name: string;
  /** Time until it fires, ms. */
  ms: number;
  /** Retransmissions so far. */
  retrans: number;
}

/** `timer:(keepalive,9min59sec,0)`. */
export function timerOf(at: HostLine, value: string): SsTimer {
  const [name, time, retrans, ...more] = inBrackets(at, "timer", value)
    .split(",");
  // Seconds with a fraction carry the unit of the fraction: 1.520ms is 1,520 ms.
  const match =
    /^(?:(\d{1,9})min)?(?:(\d{1,9})sec|(\d{1,9})\.(\d{3})ms|(\d{1,9})ms)?$/
      .exec(time ?? "");
  if (
    name === undefined || match === null || time === "" || more.length > 0
  ) {
    throw new HostFormatError(
      SOURCE,
      at,
      `timer must be a name, a time and a count, got ${JSON.stringify(value)}`,
    );
  }
  const [min, sec, second, fraction, ms] = match.slice(1).map((digits) =>
    Number(digits ?? 0)
  ) as [number, number, number, number, number];
  return {
    name,
    ms: min * 60_000 + (sec + second) * 1000 + fraction + ms,
    retrans: wholeWord(SOURCE, at, "timer's retransmissions", retrans, U32),
  };
}
