/**
 * A finished drawing and the forms it is shown in.
 *
 * @module
 */

import type { Rasteriser } from "./raster.ts";
import { csvField, escapeHTML, markdownText } from "../table/forms.ts";

/** What Jupyter shows of a figure. */
export interface FigureBundle {
  /** Title and one line, or a drawing in characters. */
  readonly "text/plain": string;
  /** An inline SVG that takes the page's text colour, so also on a dark page. */
  readonly "text/html": string;
  /** Base64; shown where a notebook is not trusted or HTML not shown. */
  readonly "image/png": string;
  /** A display may carry further forms; a figure has none. */
  readonly [mime: string]: string;
}

/** One row of the data behind a figure: values by column. */
export type FigureRow = Readonly<Record<string, string | number | null>>;

/** A figure as plain data. */
export interface FigureData {
  /** What the figure shows: its finding. */
  readonly title: string;
  /** The data behind it; empty where the figure was made of marks alone. */
  readonly data: readonly FigureRow[];
}

/** What a figure is made of. */
export interface FigureParts {
  /** What the figure shows: its finding. */
  readonly title: string;
  /** The terminal form. */
  readonly text: string;
  /** A standalone SVG. */
  readonly svg: string;
  /** In px. */
  readonly width: number;
  /** In px. */
  readonly height: number;
  /** The data behind the drawing. */
  readonly data: readonly FigureRow[];
  /** From {@link loadRasteriser}. */
  readonly rasterise: Rasteriser;
}

/** A PNG may take this many bytes; a notebook with ten of them stays under 1 MB. */
const pngLimit = 100_000;

/**
 * A finished drawing: one SVG, and the same as a picture.
 *
 * @example
 * ```ts
 * import { assert, assertStringIncludes } from "@std/assert";
 * import { Figure, plot } from "@truesize/lab";
 *
 * const figure = await plot({ title: "Empty", marks: (Plot) => [Plot.frame()] });
 * assert(figure instanceof Figure);
 * assertStringIncludes(figure.svg(), "<svg");
 * ```
 */
export class Figure {
  /** What the figure shows: its finding. */
  readonly title: string;
  /** In px. */
  readonly width: number;
  /** In px. */
  readonly height: number;
  readonly #parts: FigureParts;
  #png: Uint8Array<ArrayBuffer> | undefined;

  /**
   * Made by `plot`, `plotLines`, `drawMemory` and `drawBlock`.
   *
   * @param parts The finished drawing.
   */
  constructor(parts: FigureParts) {
    this.title = parts.title;
    this.width = parts.width;
    this.height = parts.height;
    this.#parts = parts;
  }

  /**
   * The drawing as a standalone SVG: with its namespace, its title drawn in it,
   * and ids that depend on its content alone.
   *
   * @returns An `svg` element.
   */
  svg(): string {
    return this.#parts.svg;
  }

  /**
   * The drawing for a page.
   *
   * @returns A `figure` element with the SVG inline.
   */
  toHTML(): string {
    // A browser's own margin would take a fifth of a narrow page from the drawing.
    return `<figure style="margin:0" role="img" aria-label="${
      escapeHTML(this.title)
    }">${this.svg()}</figure>`;
  }

  /**
   * The drawing as a picture on white, in the largest of two, one and a half
   * and one times its size that stays under 100 KB. Same drawing, same bytes.
   *
   * @returns The bytes of a PNG file.
   */
  png(): Uint8Array<ArrayBuffer> {
    // The rasteriser knows no CSS variables; pictures are on white.
    const svg = this.svg().replace(/var\(--plot-background\)/g, "white");
    for (const zoom of [2, 1.5, 1]) {
      if (this.#png !== undefined && this.#png.length < pngLimit) break;
      this.#png = this.#parts.rasterise(svg, zoom);
    }
    return this.#png!.slice();
  }

  /**
   * The terminal form: the title and one line, or a drawing in characters.
   *
   * @returns Lines, each ended.
   */
  toText(): string {
    return this.#parts.text.trimEnd() + "\n";
  }

  /**
   * The data behind the drawing as CSV (RFC 4180): a line of column names, then a line a row.
   *
   * @returns Lines, each ended with CR LF.
   */
  toCSV(): string {
    const { data } = this.#parts;
    const columns = columnsOf(data);
    return [
      columns,
      ...data.map((row) => columns.map((key) => row[key] ?? null)),
    ]
      .map((line) => line.map(csvField).join(",") + "\r\n").join("");
  }

  /**
   * Title and data, for `JSON.stringify`.
   *
   * @returns Plain data.
   */
  toJSON(): FigureData {
    return { title: this.title, data: this.#parts.data };
  }

  /**
   * Title and data as Markdown.
   *
   * @returns The title in bold and a pipe table.
   */
  toMarkdown(): string {
    const { data } = this.#parts;
    const columns = columnsOf(data);
    const line = (fields: readonly string[]): string =>
      `| ${fields.join(" | ")} |`;
    const title = `**${markdownText(this.title)}**\n`;
    if (columns.length === 0) return title;
    return [
      title,
      line(columns.map(markdownText)),
      line(
        columns.map((key) => typeof data[0]![key] === "number" ? "--:" : ":--"),
      ),
      ...data.map((row) =>
        line(columns.map((key) => markdownText(String(row[key] ?? ""))))
      ),
      "",
    ].join("\n");
  }

  /**
   * What Jupyter shows. The HTML also holds the picture, hidden: where a notebook is not trusted, its front end drops the
   * SVG and the `style` that hides the picture.
   *
   * @returns The forms by their MIME types.
   */
  [Symbol.for("Jupyter.display")](): FigureBundle {
    const png = this.png().toBase64();
    const picture =
      `<img style="display:none" alt="" width="${this.width}" src="data:image/png;base64,${png}">`;
    const html = this.toHTML().replace("</figure>", `${picture}</figure>`);
    return {
      "text/plain": this.toText(),
      "text/html": html.replace(/<svg[\s\S]*<\/svg>/, hideWords),
      "image/png": png,
    };
  }
}

function columnsOf(data: readonly FigureRow[]): string[] {
  return [...new Set(data.flatMap((row) => Object.keys(row)))];
}

const entities: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
  "&nbsp;": "\u00a0",
};

// What drops an svg as unsafe leaves its words behind, unless they are CDATA; a browser draws both alike.
function hideWords(svg: string): string {
  return svg.replace(/>([^<]*[^<\s][^<]*)</g, (_, words: string) => {
    const plain = words.replace(
      /&(?:amp|lt|gt|quot|apos|nbsp);|&#(\d+);/g,
      (entity, code?: string) =>
        code === undefined
          ? entities[entity]!
          : String.fromCodePoint(Number(code)),
    );
    return `><![CDATA[${plain}]]><`;
  });
}
