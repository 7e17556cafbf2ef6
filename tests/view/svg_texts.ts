/**
 * Where the texts of a drawing are, as far as one can tell without a browser.
 *
 * @module
 */

import { JSDOM } from "jsdom";
import { textWidth } from "../../lib/view/text_width.ts";

/** A text and its box, in px. */
export interface TextBox {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

interface Node {
  readonly parentElement: Node | null;
  readonly textContent: string;
  getAttribute(name: string): string | null;
  querySelectorAll(selector: string): Iterable<Node>;
}

function inherited(node: Node | null, name: string): string | undefined {
  for (let at = node; at !== null; at = at.parentElement) {
    const value = at.getAttribute(name);
    if (value !== null) return value;
  }
}

/** Every text's box, with a width that is never too small in DejaVu Sans. */
export function textBoxes(svg: string): { view: TextBox; texts: TextBox[] } {
  const { document } = new JSDOM(svg, { contentType: "image/svg+xml" }).window;
  const root = document.documentElement;
  const [x = 0, y = 0, width = 0, height = 0] = root.getAttribute("viewBox")
    .split(/[ ,]+/).map(Number);
  const texts = [...document.querySelectorAll("text")].map(
    (node: Node): TextBox => {
      let left = Number(node.getAttribute("x") ?? 0);
      let middle = Number(node.getAttribute("y") ?? 0);
      for (let at: Node | null = node; at !== null; at = at.parentElement) {
        const [, dx = "0", dy = "0"] =
          /translate\(([-\d.]+)[, ]+([-\d.]+)\)/.exec(
            at.getAttribute("transform") ?? "",
          ) ?? [];
        left += Number(dx);
        middle += Number(dy);
      }
      const size = Number(inherited(node, "font-size"));
      const bold = inherited(node, "font-weight") === "bold" ? 1.12 : 1;
      // The lines of a text of several stand around its place.
      const lines = [...node.querySelectorAll("tspan")];
      const wide = Math.max(
        ...(lines.length === 0 ? [node] : lines).map(({ textContent }) =>
          textWidth(textContent, size) * bold
        ),
      );
      const height = size + Math.max(0, lines.length - 1) * size * 1.15;
      const anchor = inherited(node, "text-anchor");
      if (node.getAttribute("transform")?.includes("rotate(-90)")) {
        const bottom = middle +
          (anchor === "middle" ? wide / 2 : anchor === "end" ? wide : 0);
        return {
          text: node.textContent,
          left: left - height / 2,
          right: left + height / 2,
          top: bottom - wide,
          bottom,
        };
      }
      left -= anchor === "middle" ? wide / 2 : anchor === "end" ? wide : 0;
      return {
        text: node.textContent,
        left,
        right: left + wide,
        top: middle - height / 2,
        bottom: middle + height / 2,
      };
    },
  );
  return {
    view: { text: "", left: x, right: x + width, top: y, bottom: y + height },
    texts,
  };
}

/** What is wrong with the texts of a drawing: cut at an edge, or on top of each other. */
export function textFaults(svg: string): string[] {
  const { view, texts } = textBoxes(svg);
  const faults = texts.filter((box) =>
    box.left < view.left - 1 || box.right > view.right + 1 ||
    box.top < view.top - 8 || box.bottom > view.bottom + 8
  ).map((box) => `cut: ${box.text} (${box.left} to ${box.right})`);
  texts.forEach((one, i) => {
    for (const other of texts.slice(i + 1)) {
      const overlap = one.left < other.right - 1 &&
        other.left < one.right - 1 && one.top < other.bottom - 2 &&
        other.top < one.bottom - 2;
      if (overlap) faults.push(`overlap: ${one.text} | ${other.text}`);
    }
  });
  return faults;
}
