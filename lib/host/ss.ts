/**
 * What `ss` prints of TCP, UDP and other IP sockets, as typed values.
 *
 * @module
 */

import {
  HostFormatError,
  type HostLine,
  linesOf,
  wholeWord,
  wordsOf,
} from "./text.ts";
import { type SsTcpInfo, SsTcpWords } from "./ss_tcp.ts";
import {
  memoryLetters,
  type SkMem,
  skmemOf,
  type SsTimer,
  type SsUser,
  ssWords,
  timerOf,
  usersOf,
} from "./ss_words.ts";

/** One end of a socket. */
export interface SsAddress {
  /** Address without brackets; `*` for any. A name where ss was told to resolve. */
  address: string;
  /** Interface the end is bound to, or the zone of a link-local address. */
  zone?: string;
  /** Port, or the service's name where ss was run without `-n`; `*` for any. */
  port: number | string;
}

/** A socket that `ss` printed. */
export interface SsSocket {
  /** Line of its addresses, counted from 1. */
  line: number;
  /** Line of its details; the same where ss prints one line a socket (`-O`) or no details. */
  detailLine: number;
  /** `tcp`, `udp`, `raw`, …; absent where ss prints one kind only. */
  netid?: string;
  /** State, for example `ESTAB`; absent where ss prints sockets of one state only. */
  state?: string;
  /** Recv-Q: bytes that wait (TCP), charged bytes (UDP), or length of the accept queue (LISTEN). */
  recvQ: number;
  /** Send-Q: bytes not acknowledged, or the longest accept queue (LISTEN). */
  sendQ: number;
  /** Our end. */
  local: SsAddress;
  /** The peer's end. */
  peer: SsAddress;
  /** Processes that hold it (`-p`). */
  users?: SsUser[];
  /** Timer (`-o`). */
  timer?: SsTimer;
  /** User id (`-e`); absent for root. */
  uid?: number;
  /** Inode (`-e`). */
  inode?: number;
  /** Socket cookie, hexadecimal (`-e`). */
  cookie?: string;
  /** Memory (`-m`). */
  memory?: SkMem;
  /** The older memory word, `mem:(r…,w…,f…,t…)`, by its letters, bytes. */
  meminfo?: Record<string, number>;
  /** TCP_INFO (`-i`). */
  tcp?: SsTcpInfo;
  /** Every other word, in order: what this reader does not know is kept as printed. */
  words: string[];
}

/** What `ss` printed. */
export interface SsOutput {
  /** IP sockets, in order. */
  sockets: SsSocket[];
  /** Lines that are kept but not read: sockets of other families, and messages of netlink. */
  others: HostLine[];
}

const SOURCE = "ss";
const STATES = new Set([
  "UNKNOWN",
  "ESTAB",
  "SYN-SENT",
  "SYN-RECV",
  "FIN-WAIT-1",
  "FIN-WAIT-2",
  "TIME-WAIT",
  "UNCONN",
  "CLOSE-WAIT",
  "LAST-ACK",
  "LISTEN",
  "CLOSING",
  "NEW-SYN-RECV",
  "BOUND-INACTIVE",
]);
const IP_SOCKETS = new Set([
  "tcp",
  "udp",
  "raw",
  "dccp",
  "sctp",
  "mptcp",
  "icmp",
  "icmp6",
]);
const OTHER_SOCKETS =
  /^(?:nl|p_raw|p_dgr|u_str|u_dgr|u_seq|v_str|v_dgr|ti-st|ti-dg|ti-rd|ti-sq|tipc|xdp|\?\?\?)[ \t]/;
const MESSAGE = /^(?:RTNETLINK|TCPDIAG) answers: /;
const ADDRESS_COLUMNS = /Local Address:Port[ \t]+Peer Address:Port/;

function addressOf(at: HostLine, what: string, word: string): SsAddress {
  const refuse = (): never => {
    throw new HostFormatError(
      SOURCE,
      at,
      `${what} must be address:port, got ${JSON.stringify(word)}`,
    );
  };
  const colon = word.lastIndexOf(":");
  if (colon <= 0) refuse();
  const portWord = word.slice(colon + 1);
  const [, bracketed, plain, zone] =
    /^(?:\[([0-9a-fA-F:.]+)\]|([^[\]%]+))(?:%([^%[\]]+))?$/.exec(
      word.slice(0, colon),
    ) ?? refuse();
  const address = bracketed ?? plain!;
  if (!/^(?:\*|[0-9A-Za-z_.:-]+)$/.test(address)) refuse();
  let port: number | string = portWord;
  if (/^\d/.test(portWord)) {
    port = wholeWord(SOURCE, at, `${what}'s port`, portWord, 65535);
  } else if (!/^(?:\*|[A-Za-z][A-Za-z0-9_.+/-]*)$/.test(portWord)) refuse();
  return { address, ...(zone === undefined ? {} : { zone }), port };
}

/** Which columns the header names before Recv-Q. */
interface Columns {
  readonly netid: boolean;
  readonly state: boolean;
}

function headerOf(at: HostLine): Columns | undefined {
  if (!ADDRESS_COLUMNS.test(at.text)) return undefined;
  const before = at.text.slice(0, at.text.search(ADDRESS_COLUMNS));
  const words = wordsOf(before);
  const names = words.join(" ");
  if (!/^(?:Netid )?(?:State )?Recv-Q Send-Q$/.test(names)) {
    throw new HostFormatError(SOURCE, at, "unknown columns");
  }
  return { netid: words.includes("Netid"), state: words.includes("State") };
}

/** Reads the socket's own line; the words after the addresses are left over. */
function headOf(
  at: HostLine,
  columns: Columns | undefined,
): [SsSocket, string] {
  const socket: Partial<SsSocket> = { line: at.line, detailLine: at.line };
  let rest = at.text;
  const next = (what: string): string => {
    const match = /^[ \t]*([^ \t]+)/.exec(rest);
    if (match === null) {
      throw new HostFormatError(SOURCE, at, `${what} is missing`);
    }
    rest = rest.slice(match[0].length);
    return match[1]!;
  };
  const peek = (): string => /^[ \t]*([^ \t]+)/.exec(rest)?.[1] ?? "";
  if (columns?.netid ?? IP_SOCKETS.has(peek())) {
    const netid = next("Netid");
    if (!IP_SOCKETS.has(netid)) {
      throw new HostFormatError(SOURCE, at, `unknown Netid ${netid}`);
    }
    socket.netid = netid;
  }
  if (columns?.state ?? STATES.has(peek())) {
    const state = next("State");
    if (!STATES.has(state)) {
      throw new HostFormatError(SOURCE, at, `unknown state ${state}`);
    }
    socket.state = state;
  }
  socket.recvQ = wholeWord(SOURCE, at, "Recv-Q", next("Recv-Q"));
  socket.sendQ = wholeWord(SOURCE, at, "Send-Q", next("Send-Q"));
  socket.local = addressOf(at, "local address", next("local address"));
  socket.peer = addressOf(at, "peer address", next("peer address"));
  socket.words = [];
  return [socket as SsSocket, rest];
}

function readWords(socket: SsSocket, at: HostLine, text: string): void {
  const words = ssWords(at, text);
  const tcp = new SsTcpWords(at);
  const once = (name: keyof SsSocket): void => {
    if (socket[name] !== undefined) {
      throw new HostFormatError(SOURCE, at, `${name} stands there twice`);
    }
  };
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    const colon = word.indexOf(":");
    const value = word.slice(colon + 1);
    switch (word.slice(0, Math.max(0, colon))) {
      case "skmem":
        once("memory");
        socket.memory = skmemOf(at, value);
        continue;
      case "mem":
        once("meminfo");
        socket.meminfo = Object.fromEntries(memoryLetters(at, "mem", value));
        continue;
      case "users":
        once("users");
        socket.users = usersOf(at, value);
        continue;
      case "timer":
        once("timer");
        socket.timer = timerOf(at, value);
        continue;
      case "uid":
        once("uid");
        socket.uid = wholeWord(SOURCE, at, "uid", value, 0xffffffff);
        continue;
      case "ino":
        once("inode");
        socket.inode = wholeWord(SOURCE, at, "ino", value);
        continue;
      case "sk":
        once("cookie");
        if (!/^[0-9a-f]{1,16}$/.test(value)) {
          throw new HostFormatError(SOURCE, at, "sk must be hexadecimal");
        }
        socket.cookie = value;
        continue;
    }
    const taken = tcp.take(words, i);
    if (taken === 0) socket.words.push(word);
    else i += taken - 1;
  }
  if (tcp.any) {
    once("tcp");
    socket.tcp = tcp.info;
  }
}

/**
 * Reads what `ss` printed: `ss -tmi`, `ss -um` and their like, with `-a`, `-e`, `-n`, `-o`, `-p`, `-H`, in one line a
 * socket (`-O`) or two, IPv4 and IPv6, of iproute2 3.x to 6.x.
 *
 * A socket's values come from its own line and the indented line right under it, from nowhere else; a word that is
 * not known is kept in {@linkcode SsSocket.words}.
 *
 * @param text The output; `\r\n` line ends are fine.
 * @returns IP sockets in the order printed; lines of other socket families are kept unread.
 * @throws {HostFormatError} A line cannot be read; the error has its number and text.
 * @throws {TypeError} `text` is no string.
 *
 * @example The truesize that a UDP socket holds
 * ```ts
 * import { readSs } from "@truesize/lab";
 * import { assertEquals } from "@std/assert";
 *
 * const [socket] = readSs(`State  Recv-Q Send-Q Local Address:Port  Peer Address:Port Process
 * UNCONN 6272   0          127.0.0.1:45003      0.0.0.0:*
 * \t skmem:(r6272,rb212992,t0,tb212992,f1920,w0,o0,bl0,d0)
 * `).sockets;
 * assertEquals(socket?.memory?.r, 6272);
 * assertEquals(socket?.local, { address: "127.0.0.1", port: 45003 });
 * ```
 */
export function readSs(text: string): SsOutput {
  const output: SsOutput = { sockets: [], others: [] };
  let columns: Columns | undefined;
  // The socket that an indented line may belong to; it may have one.
  let open: SsSocket | undefined;
  let inOthers = false;
  for (const at of linesOf(SOURCE, text)) {
    const blank = at.text.trim() === "";
    if (/^[ \t]/.test(at.text) && (open !== undefined || inOthers || !blank)) {
      if (inOthers) output.others.push(at);
      else if (open === undefined) {
        throw new HostFormatError(
          SOURCE,
          at,
          "details without a socket in the line above",
        );
      } else {
        open.detailLine = at.line;
        readWords(open, at, at.text);
        open = undefined;
      }
      continue;
    }
    open = undefined;
    if (blank) continue;
    inOthers = OTHER_SOCKETS.test(at.text);
    if (inOthers || MESSAGE.test(at.text)) {
      output.others.push(at);
      continue;
    }
    const header = headerOf(at);
    if (header !== undefined) {
      columns = header;
      continue;
    }
    const [socket, rest] = headOf(at, columns);
    readWords(socket, at, rest);
    output.sockets.push(socket);
    open = socket;
  }
  return output;
}
