/**
 * Turns an SVG drawing into a PNG picture, with a font of its own, so that the
 * same drawing gives the same bytes on every machine.
 *
 * @module
 */

/** A ready rasteriser: from a standalone SVG to the bytes of a PNG. */
export type Rasteriser = (svg: string, zoom: number) => Uint8Array<ArrayBuffer>;

let ready: Promise<Rasteriser> | undefined;

async function load(): Promise<Rasteriser> {
  // The font package has no code. Importing its description makes Deno fetch
  // it, and lets the path below resolve also on a machine seen for the first time.
  const [{ initWasm, Resvg }] = await Promise.all([
    import("@resvg/resvg-wasm"),
    import("dejavu-fonts-ttf/package.json", { with: { type: "json" } }),
  ]);
  const [wasm, regular, bold] = await Promise.all([
    Deno.readFile(
      new URL(import.meta.resolve("@resvg/resvg-wasm/index_bg.wasm")),
    ),
    Deno.readFile(
      new URL(import.meta.resolve("dejavu-fonts-ttf/ttf/DejaVuSans.ttf")),
    ),
    Deno.readFile(
      new URL(import.meta.resolve("dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf")),
    ),
  ]);
  await initWasm(wasm);
  const font = {
    fontBuffers: [regular, bold],
    defaultFontFamily: "DejaVu Sans",
    sansSerifFamily: "DejaVu Sans",
  };
  return (svg, zoom) => {
    const resvg = new Resvg(svg, {
      background: "#FFFFFF",
      fitTo: { mode: "zoom", value: zoom },
      font,
    });
    const image = resvg.render();
    try {
      return new Uint8Array(image.asPng());
    } finally {
      // Neither is garbage-collected: both live in the wasm module's memory.
      image.free();
      resvg.free();
    }
  };
}

/**
 * Loads the rasteriser and its fonts, once a process.
 *
 * @returns The rasteriser.
 */
export function loadRasteriser(): Promise<Rasteriser> {
  return ready ??= load();
}
