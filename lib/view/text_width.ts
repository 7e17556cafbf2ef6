/**
 * How wide a text will be, so that drawings can place labels without a browser.
 *
 * @module
 */

/** The font of every text in a figure. */
export const fontFamily = "DejaVu Sans, sans-serif";
/**
 * The size of every text in a figure except its title, in px: in a window of 640 px a notebook's page leaves
 * 498 px to a figure of 640, and this is then 11 px.
 */
export const fontSize = 14.2;

/** How much wider the bold cut is, at most. */
export const boldness = 1.15;
/** Space between a figure's edge and what is in it, in px. */
export const edge = 4;
/** The height of a line of text, in px. */
export const lineHeight: number = Math.ceil(fontSize * 1.5);

// Advance widths of DejaVu Sans in 1/1000 of the font size, for U+0020 to U+007E.
// It is one of the widest sans-serif fonts, so a browser without it needs less.
// deno-fmt-ignore
const advances = [
  318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636, 636,
  636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,
  603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635,
  634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];

/**
 * The width of a text in DejaVu Sans. Characters outside ASCII count as the
 * widest letter, so the result is never too small for them.
 *
 * @param text The text, on one line.
 * @param size The font size in px.
 * @returns The width in px.
 */
export function textWidth(text: string, size: number): number {
  let width = 0;
  for (const character of text) {
    width += advances[character.codePointAt(0)! - 32] ?? 1000;
  }
  return (width * size) / 1000;
}

/**
 * Breaks a text into lines at its spaces. A single word wider than a line gets
 * a line of its own.
 *
 * @param text The text.
 * @param size The font size in px.
 * @param width The width of a line in px.
 * @returns The lines; none for an empty text.
 */
export function wrapText(text: string, size: number, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/).filter((word) => word !== "")) {
    const last = lines.at(-1);
    if (last !== undefined && textWidth(`${last} ${word}`, size) <= width) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(word);
  }
  return lines;
}

/**
 * Breaks a text into as few lines as {@link wrapText}, and these into equal
 * parts as far as words allow: no word is left alone on the last line.
 *
 * @param text The text.
 * @param size The font size in px.
 * @param width The most that a line may take in px.
 * @returns The lines; none for an empty text.
 */
export function balanceText(
  text: string,
  size: number,
  width: number,
): string[] {
  let lines = wrapText(text, size, width);
  for (let narrower = width - size; narrower > 0; narrower -= size) {
    const tried = wrapText(text, size, narrower);
    const fits = tried.length === lines.length &&
      tried.every((line) => textWidth(line, size) <= narrower);
    if (!fits) break;
    lines = tried;
  }
  return lines;
}
