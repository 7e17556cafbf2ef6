/** What is measured in a page. The functions run in the browser. */

// deno-lint-ignore no-explicit-any
type Dom = any;

/** What a person would see wrong in a notebook's page. */
export interface PageReport {
  /** How many drawings the outputs hold. */
  readonly drawings: number;
  /** How many tables the outputs hold. */
  readonly tables: number;
  /** How light the page is, from 0 to 1. */
  readonly pageLightness: number;
  /** How light the drawings' own colour is, each. */
  readonly inkLightness: readonly number[];
  /** A line for each fault. */
  readonly faults: readonly string[];
}

/** What holds an output in a page of nbconvert. */
export const OUTPUTS = ".jp-OutputArea-output";

/** Measures the outputs of a page, by what holds them; without outside names, as it is sent as text. */
export function measurePage(selector: string): PageReport {
  const { document, getComputedStyle } = globalThis as Dom;
  const outputs: Dom[] = [...document.querySelectorAll(selector)];
  const faults: string[] = [];
  const inOutputs = (selector: string): Dom[] =>
    outputs.flatMap((output) => [...output.querySelectorAll(selector)]);
  const isShown = (element: Dom): boolean =>
    getComputedStyle(element).display !== "none";
  const lightness = (color: string): number => {
    const [r = 0, g = 0, b = 0] = (color.match(/[\d.]+/g) ?? []).map(Number);
    return (0.21 * r + 0.72 * g + 0.07 * b) / 255;
  };

  for (const element of inOutputs("svg, img, table").filter(isShown)) {
    const { width, height } = element.getBoundingClientRect();
    if (width < 20 || height < 20) {
      faults.push(`a ${element.tagName} is ${width} by ${height} px`);
    }
  }
  for (const text of inOutputs("svg text")) {
    const box = text.getBoundingClientRect();
    const frame = text.ownerSVGElement.getBoundingClientRect();
    const cut = Math.max(
      frame.left - box.left,
      frame.top - box.top,
      box.right - frame.right,
      box.bottom - frame.bottom,
    );
    if (cut > 0.2) {
      faults.push(
        `the text ${JSON.stringify(text.textContent)} is cut by ${
          cut.toFixed(1)
        } px`,
      );
    }
  }
  // The lines of a text of several are told apart.
  const words = (svg: Dom): Dom[] =>
    [...svg.querySelectorAll("text, tspan")].filter((text) =>
      text.querySelector("tspan") === null && text.textContent.trim() !== ""
    );
  for (const svg of inOutputs("svg").filter(isShown)) {
    const frame = svg.getBoundingClientRect();
    const shrunk = frame.width / (svg.viewBox.baseVal?.width || frame.width);
    const boxes = words(svg).map((text) => ({
      text: text.textContent,
      size: parseFloat(getComputedStyle(text).fontSize) * shrunk,
      box: text.getBoundingClientRect(),
    }));
    const smallest = Math.min(...boxes.map(({ size }) => size));
    if (smallest < 11) {
      const { text } = boxes.find(({ size }) => size === smallest)!;
      faults.push(
        `the text ${JSON.stringify(text)} is ${smallest.toFixed(1)} px high`,
      );
    }
    boxes.forEach((one, i) => {
      for (const other of boxes.slice(i + 1)) {
        const across = Math.min(one.box.right, other.box.right) -
          Math.max(one.box.left, other.box.left);
        const down = Math.min(one.box.bottom, other.box.bottom) -
          Math.max(one.box.top, other.box.top);
        // A box has room above and below its letters.
        if (across > 1 && down > 0.25 * Math.min(one.size, other.size)) {
          faults.push(
            `the texts ${JSON.stringify(one.text)} and ${
              JSON.stringify(other.text)
            } overlap`,
          );
        }
      }
    });
  }
  for (const cell of inOutputs("tbody td:not([align=left])")) {
    const isFigure = /^[-+]?\d[\d,.]*\s*[%=≈†?]?\d*$/.test(
      cell.textContent.trim(),
    );
    const { textAlign } = getComputedStyle(cell);
    if (isFigure && !/right$/.test(textAlign)) {
      faults.push(
        `the figure ${
          JSON.stringify(cell.textContent)
        } is aligned ${textAlign}`,
      );
    }
  }
  for (const svg of inOutputs("svg")) {
    const area = svg.closest(selector).getBoundingClientRect();
    const over = svg.getBoundingClientRect().right - area.right;
    if (over > 1) {
      faults.push(`a drawing is ${over.toFixed(1)} px wider than its place`);
    }
  }
  const scrolling = outputs.filter((output) =>
    output.scrollWidth > output.clientWidth + 1
  );
  for (const output of scrolling) {
    const text = JSON.stringify(output.textContent.trim().slice(0, 40));
    faults.push(
      `an output scrolls sideways: ${output.scrollWidth} px in ${output.clientWidth}: ${text}`,
    );
  }
  return {
    drawings:
      inOutputs("svg").filter((svg) => !svg.parentElement.closest("svg"))
        .length,
    tables: inOutputs("table").length,
    pageLightness: lightness(getComputedStyle(document.body).backgroundColor),
    inkLightness: inOutputs("svg").map((svg) =>
      lightness(getComputedStyle(svg).color)
    ),
    faults,
  };
}

/** What the classic Notebook makes of an untrusted output. */
export interface ClassicOutput {
  /** Widths, in px of the picture, of the images that are shown. */
  readonly images: readonly number[];
  /** How many inline drawings were kept. */
  readonly drawings: number;
  /** The text that is shown. */
  readonly text: string;
}

/** Whether the classic Notebook trusts the open notebook, and what its outputs show. */
export function measureClassic(): {
  trusted: boolean;
  outputs: ClassicOutput[];
} {
  const { document, getComputedStyle, Jupyter } = globalThis as Dom;
  const cells: Dom[] = Jupyter.notebook.get_cells();
  return {
    trusted: cells.some((cell) =>
      cell.output_area?.trusted && cell.output_area.outputs.length > 0
    ),
    outputs: [...document.querySelectorAll(".output_area")].map((
      area: Dom,
    ) => ({
      images: [...area.querySelectorAll("img")]
        .filter((image) => getComputedStyle(image).display !== "none")
        .map((image) => image.naturalWidth),
      drawings: area.querySelectorAll("svg").length,
      text: area.innerText.replace(/\s+/g, " ").trim(),
    })),
  };
}
