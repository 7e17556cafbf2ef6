/**
 * One colour for one thing, in every plot and drawing.
 *
 * @module
 */

/** The name of a colour of Okabe and Ito. */
export type OkabeItoName =
  | "black"
  | "orange"
  | "skyBlue"
  | "bluishGreen"
  | "yellow"
  | "blue"
  | "vermillion"
  | "reddishPurple";

/**
 * The eight colours of Okabe and Ito, told apart with every common kind of
 * colour vision. Black is `currentColor`, so that it stays visible on a dark page.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { okabeIto } from "@truesize/lab";
 *
 * assertEquals(okabeIto.blue, "#0072B2");
 * ```
 */
export const okabeIto: Readonly<Record<OkabeItoName, string>> = Object.freeze(
  {
    black: "currentColor",
    orange: "#E69F00",
    skyBlue: "#56B4E9",
    bluishGreen: "#009E73",
    yellow: "#F0E442",
    blue: "#0072B2",
    vermillion: "#D55E00",
    reddishPurple: "#CC79A7",
  },
);

const {
  black,
  orange,
  skyBlue,
  bluishGreen,
  yellow,
  blue,
  vermillion,
  reddishPurple,
} = okabeIto;

const grey = "#888888";
/** Areas of nothing: bytes that nobody uses. */
const lightGrey = "#C8C8C8";

// Lines on white and on black alike; yellow is for areas only.
const cycle = Object.freeze([
  blue,
  vermillion,
  bluishGreen,
  reddishPurple,
  orange,
  skyBlue,
  grey,
]);

/**
 * The colour of everything that has a fixed one, by the name that it bears in
 * plots: the only place that says which colour means what. Groups are things
 * that meet in one plot; names of different groups may share a colour.
 *
 * Where two groups speak of one thing, it keeps its colour: a strategy and the
 * release that brought it, a window and what limits a stream by it.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { colors } from "@truesize/lab";
 *
 * assertEquals(colors.published, "currentColor");
 * assertEquals(colors.payload, "#009E73");
 * ```
 */
export const colors: Readonly<Record<string, string>> = Object.freeze({
  // Where a figure comes from.
  published: black,
  measured: black,
  simulated: blue,
  "timed here": grey,

  // How a simulated figure came about.
  exact: bluishGreen,
  priced: blue,
  fitted: reddishPurple,
  unexplained: vermillion,

  // What the bytes of a packet hold.
  struct: skyBlue,
  headroom: yellow,
  header: orange,
  payload: bluishGreen,
  shared_info: reddishPurple,
  unused: lightGrey,
  overhead: grey,
  truesize: blue,
  "share of a block": orange,
  "the frame": grey,

  // Buffers of a block, objects of a slab.
  buffer: skyBlue,
  "freed buffer": yellow,
  "never cut": lightGrey,
  "held by a caller": skyBlue,
  "on the CPU's freelist": bluishGreen,
  "on the slab's freelist": yellow,

  // What work consists of.
  allocation: blue,
  free: vermillion,
  "bulk allocation": skyBlue,
  "bulk free": orange,
  "NAPI's stack": bluishGreen,
  "lists and locks": grey,
  single: vermillion,
  bulk: blue,

  // Allocators.
  kmalloc: blue,
  "kmalloc and page_pool": blue,
  page_frag_cache: vermillion,
  "shared page_frag_cache": vermillion,
  "a cache of their own": skyBlue,
  page_frag: bluishGreen,
  skb_page_frag_refill: bluishGreen,
  page_pool: orange,
  "page_pool for all": orange,
  page_alloc: reddishPurple,
  "single pages": reddishPurple,
  "order-3 blocks": blue,
  "in use": grey,
  vhost_net: blue,
  slub: blue,
  slab: bluishGreen,
  qmempool: vermillion,

  // Receive paths and strategies.
  loopback: grey,
  veth: skyBlue,
  tun: orange,
  tap: orange,
  "tap, non-blocking": orange,
  "vhost-net": black,
  "virtio-mergeable": vermillion,
  "virtio mergeable, 6.1": vermillion,
  "virtio-big": reddishPurple,
  "virtio, a page each (2013)": reddishPurple,
  "virtio-small": bluishGreen,
  "virtio small": bluishGreen,
  ixgbe: blue,
  "page-pool": orange,

  // Receive strategies of one's own.
  "as it is": grey,
  mine: vermillion,
  "a page each": reddishPurple,
  "copybreak 256": bluishGreen,
  "copybreak 2048": orange,
  "copybreak 3,646": bluishGreen,
  "MTU 64,000": blue,

  // virtio_net's receive buffers over the years.
  "whole page (3.12)": reddishPurple,
  "1,518 bytes (Nov 2013)": skyBlue,
  "1,536 bytes (3.13)": blue,
  "auto-tune (3.14)": bluishGreen,
  "hole counted (4.13)": black,
  "build_skb (6.8)": vermillion,
  "page_pool, small head": orange,
  "page_pool, build_skb": grey,

  // Releases.
  "3.12": reddishPurple,
  "net-next-2013-10": reddishPurple,
  "2013 to 6.5": reddishPurple,
  "3.13": blue,
  "3.14": bluishGreen,
  "4.3": skyBlue,
  "net-next-2015-10": skyBlue,
  "6.1": orange,
  "6.8": vermillion,
  "6.12": grey,
  "6.18": black,

  // States of a patch series.
  base: grey,
  before: grey,
  v1: orange,
  v2: blue,
  "v2 and later": blue,
  v3: bluishGreen,
  series: blue,
  "as posted": vermillion,
  "flushed on every exit": blue,
  "column 1": orange,
  "column 2": vermillion,
  "column 3": bluishGreen,
  "TSO off": blue,
  "TSO on": orange,

  // TCP: windows, buffers and what limits a stream.
  rcvbuf: skyBlue,
  "rcvbuf / 2": skyBlue,
  "tcp_rmem[1] × 2": skyBlue,
  "tcp_rmem[2]": skyBlue,
  window_clamp: grey,
  rcv_ssthresh: vermillion,
  window: bluishGreen,
  "rwnd-limited": bluishGreen,
  cwnd: reddishPurple,
  "cwnd × MSS": reddishPurple,
  "in flight": reddishPurple,
  "cwnd-limited": reddishPurple,
  sndbuf: grey,
  "send queue": skyBlue,
  "sndbuf-limited": orange,
  cubic: blue,
  reno: vermillion,
});

/**
 * The colour of something by its name, or the next one of the cycle for
 * something that has none of its own.
 *
 * @param name The name, as in {@link colors}.
 * @param index Which of the unnamed things it is, counted from 0; without it
 * the name must be known.
 * @returns A CSS colour.
 * @throws {RangeError} Where `index` is no whole number from 0 up, or is absent
 * and the name has no colour.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { colorOf, okabeIto } from "@truesize/lab";
 *
 * assertEquals(colorOf("page_frag_cache"), okabeIto.vermillion);
 * assertEquals(colorOf("my own allocator", 0), okabeIto.blue);
 * ```
 */
export function colorOf(name: string, index?: number): string {
  if (index !== undefined && (!Number.isInteger(index) || index < 0)) {
    throw new RangeError(
      `index is ${index}; a whole number from 0 up is needed`,
    );
  }
  if (Object.hasOwn(colors, name)) return colors[name]!;
  if (index === undefined) {
    throw new RangeError(
      `name is ${
        JSON.stringify(name)
      }, which has no colour: lib/view/colors.ts names ${
        Object.keys(colors).join(", ")
      }`,
    );
  }
  return cycle[index % cycle.length]!;
}

/**
 * Black or white, whichever reads better on a colour.
 *
 * @param background A colour as `#RRGGBB`.
 * @returns `"#000000"` or `"#FFFFFF"`.
 * @throws {RangeError} Where `background` is written otherwise.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { textOn } from "@truesize/lab";
 *
 * assertEquals(textOn("#0072B2"), "#FFFFFF");
 * assertEquals(textOn("#F0E442"), "#000000");
 * ```
 */
export function textOn(background: string): string {
  if (!/^#[0-9a-f]{6}$/i.test(background)) {
    throw new RangeError(
      `background is ${
        JSON.stringify(background)
      }; a colour as #RRGGBB is needed`,
    );
  }
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = parseInt(background.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  // WCAG's relative luminance; the bound is where both contrasts are equal.
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#FFFFFF";
}
