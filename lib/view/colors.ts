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

// Lines on white and on black alike; yellow is for areas only.
const cycle = Object.freeze([
  blue,
  vermillion,
  bluishGreen,
  reddishPurple,
  orange,
  skyBlue,
  "#888888",
]);

/**
 * The colour of everything that has a fixed one, by name: the two sides of a
 * comparison, the kinds of figures, what bytes of memory hold, allocators,
 * receive strategies, releases and the states of a patch series. Names of
 * different groups may share a colour; they do not meet in one plot.
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
  published: black,
  measured: black,
  simulated: blue,

  exact: bluishGreen,
  priced: blue,
  fitted: reddishPurple,
  unexplained: vermillion,

  struct: skyBlue,
  headroom: yellow,
  header: orange,
  payload: bluishGreen,
  shared_info: reddishPurple,
  unused: "#C8C8C8",

  kmalloc: blue,
  page_frag_cache: vermillion,
  page_frag: bluishGreen,
  page_pool: orange,
  page_alloc: reddishPurple,
  slub: blue,
  slab: bluishGreen,
  qmempool: vermillion,

  skb_page_frag_refill: bluishGreen,
  vhost_net: blue,

  loopback: "#888888",
  veth: skyBlue,
  tun: orange,
  tap: orange,
  "virtio-mergeable": vermillion,
  "virtio-big": reddishPurple,
  "virtio-small": bluishGreen,
  ixgbe: blue,
  "page-pool": orange,
  "tap, non-blocking": orange,
  "virtio small": bluishGreen,
  "virtio mergeable, 6.1": vermillion,
  "virtio, a page each (2013)": reddishPurple,

  "whole page (3.12)": reddishPurple,
  "1,518 bytes (Nov 2013)": skyBlue,
  "1,536 bytes (3.13)": blue,
  "auto-tune (3.14)": bluishGreen,
  "hole counted (4.13)": black,
  "build_skb (6.8)": vermillion,
  "page_pool, small head": orange,
  "page_pool, build_skb": "#888888",

  "3.12": "#888888",
  "3.13": skyBlue,
  "3.14": blue,
  "net-next-2013-10": orange,
  "4.3": reddishPurple,
  "net-next-2015-10": skyBlue,
  "6.1": bluishGreen,
  "6.8": vermillion,
  "6.12": blue,
  "6.18": black,

  base: "#888888",
  v1: orange,
  v2: blue,
  v3: bluishGreen,
  cubic: blue,
  reno: vermillion,
});

/**
 * The colour of something by its name, or the next one of the cycle for
 * something that has none of its own.
 *
 * @param name The name, as in {@link colors}.
 * @param index Which of the unnamed things it is, counted from 0.
 * @returns A CSS colour.
 * @throws {RangeError} Where `index` is no whole number from 0 up.
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
export function colorOf(name: string, index = 0): string {
  if (!Number.isInteger(index) || index < 0) {
    throw new RangeError(
      `index is ${index}; a whole number from 0 up is needed`,
    );
  }
  if (Object.hasOwn(colors, name)) return colors[name]!;
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
