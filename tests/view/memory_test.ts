import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { blockText, drawBlock, type FragBlock } from "../../lib/view/block.ts";
import type { MemoryBlock, PieceKind } from "../../lib/net/packet_memory.ts";
import { drawMemory, memoryText } from "../../lib/view/memory.ts";
import { textBoxes, textFaults } from "./svg_texts.ts";

function block(
  label: string,
  allocator: string,
  pieces: [string, number, PieceKind][],
): MemoryBlock {
  return {
    label,
    allocator,
    size: pieces.reduce((sum, [, bytes]) => sum + bytes, 0),
    pieces: pieces.map(([label, bytes, kind]) => ({ label, bytes, kind })),
  };
}

const packet = [
  block("sk_buff", "skbuff_head_cache", [["struct sk_buff", 232, "struct"], [
    "padding",
    24,
    "unused",
  ]]),
  block("head", "kmalloc-1k", [
    ["headroom", 64, "headroom"],
    ["Ethernet, IP and TCP headers", 66, "header"],
    ["payload", 190, "payload"],
    ["tailroom", 320, "unused"],
    ["skb_shared_info", 320, "shared_info"],
    ["class padding", 64, "unused"],
    ["nothing", 0, "unused"],
  ]),
  block("frag 0", "page_frag, order 3", [["payload", 1258, "payload"], [
    "unused",
    31510,
    "unused",
  ]]),
];

function cut(size: number, count: number): FragBlock["buffers"] {
  return Array.from(
    { length: count },
    (_, i) => ({ offset: 32768 - (i + 1) * size, size }),
  );
}

Deno.test("memory: every piece has its name and bytes, none cut or covered, at any width", async () => {
  for (const width of [320, 418, 640, 1000]) {
    const svg = (await drawMemory(packet, { width })).svg();
    assertEquals(textFaults(svg), [], `${width} px`);
    const joined = textBoxes(svg).texts.map(({ text }) => text).join(" ");
    for (const { label, bytes } of packet.flatMap(({ pieces }) => pieces)) {
      if (bytes > 0) {
        assertStringIncludes(joined, `${label} ${bytes.toLocaleString("en")}`);
      }
    }
  }
});

Deno.test("memory: bars are to scale", async () => {
  const figure = await drawMemory([
    packet[0]!,
    block("page", "page_alloc", [["payload", 512, "payload"]]),
  ], { width: 520 });
  const widths = [
    ...figure.svg().matchAll(
      /<rect x="[\d.]+" y="[\d.]+" width="([\d.]+)" height="28"/g,
    ),
  ].map((match) => Number(match[1]));
  assertEquals(widths, [232, 24, 512]);
});

Deno.test("memory: the title states the finding unless one is given", async () => {
  assertEquals(
    (await drawMemory(packet)).title,
    "1,448 bytes of payload take 34,048 bytes of memory (4% used)",
  );
  assertEquals(
    (await drawMemory(packet, { title: undefined })).title,
    (await drawMemory(packet)).title,
  );
  assertEquals(
    (await drawMemory(packet, { title: "Mine" })).toText().split("\n")[0],
    "Mine",
  );
});

Deno.test("memory: the terminal form is at most 80 columns wide and loses no piece", () => {
  const long = block("x".repeat(100), "y", [["z".repeat(100), 7, "payload"]]);
  const text = memoryText([...packet, long]);
  assert(text.split("\n").every((line) => line.length <= 80));
  assertStringIncludes(text, "▞ skb_shared_info 320");
  assertStringIncludes(text, `${"·".repeat(75)}\n`);
});

Deno.test("memory: blocks that do not add up are refused", async () => {
  const [first] = packet;
  const bad: [MemoryBlock[], string][] = [
    [[], "blocks is empty"],
    [
      [{ ...first!, size: 1 }],
      'the pieces of blocks[0] ("sk_buff") sum to 256 bytes; its size is 1',
    ],
    [[{ ...first!, size: 0 }], "blocks[0].size is 0"],
    [[block("a", "b", [["c", 1.5, "payload"]])], "blocks[0].size is 1.5"],
    [
      [block("a", "b", [["c", 2, "payload"], ["d", -1, "unused"]])],
      "blocks[0].pieces[1].bytes is -1",
    ],
    [[block("a", "b", [["c", 2, "data" as PieceKind]])], 'kind is "data"'],
  ];
  for (const [blocks, message] of bad) {
    assertThrows(() => memoryText(blocks), RangeError, message);
  }
  await assertRejects(
    () => drawMemory(packet, { width: 100 }),
    RangeError,
    "width is 100",
  );
});

Deno.test("block: every buffer at its offset, ticks in KiB, nothing cut or covered", async () => {
  for (const width of [320, 418, 640]) {
    const figure = await drawBlock([
      { label: "v1", size: 32768, order: 3, buffers: cut(2176, 15) },
      {
        label: "v2",
        size: 32768,
        order: 3,
        buffers: cut(2048, 16).map((buffer, i) => ({
          ...buffer,
          free: i % 4 === 0,
        })),
      },
      {
        label: "order 0",
        size: 4096,
        order: 0,
        buffers: [{ offset: 0, size: 4000, label: "a long name" }],
      },
    ], { width });
    assertEquals(textFaults(figure.svg()), [], `${width} px`);
    const texts = textBoxes(figure.svg()).texts.map(({ text }) => text);
    for (const tick of ["0", "8 KiB", "32 KiB", "freed buffer", "never cut"]) {
      assert(texts.includes(tick), tick);
    }
    assertEquals(
      figure.title,
      "v1 cuts 15 buffers, v2 cuts 16 buffers, order 0 cuts 1 buffer",
    );
  }
});

Deno.test("block: the terminal form is at most 80 columns wide", () => {
  const text = blockText({ size: 32768, order: 3, buffers: cut(2176, 15) });
  const [heading, bar] = text.split("\n");
  assertEquals(
    heading,
    "15 buffers in an order-3 block of 32,768 bytes, 128 bytes unused",
  );
  assertEquals(bar!.length, 80);
  assertEquals(bar!.split("[").length - 1, 15);
});

Deno.test("block: buffers that overlap or lie outside are refused", () => {
  const at = (...buffers: FragBlock["buffers"]): FragBlock => ({
    size: 4096,
    order: 0,
    buffers,
  });
  const bad: [FragBlock | FragBlock[], string][] = [
    [[], "blocks is empty"],
    [{ ...at(), size: 1.5 }, "blocks[0].size is 1.5"],
    [{ ...at(), order: -1 }, "blocks[0].order is -1"],
    [
      at({ offset: 0, size: 2049 }, { offset: 2048, size: 1 }),
      "the buffer at 2048 of blocks[0] overlaps",
    ],
    [at({ offset: 4000, size: 97 }), "ends at 4097; the block ends at 4096"],
    [at({ offset: -1, size: 1 }), "the buffer at -1"],
    [at({ offset: 0, size: 0 }), "its size is 0"],
  ];
  for (const [blocks, message] of bad) {
    assertThrows(() => blockText(blocks), RangeError, message);
  }
});

Deno.test("block: buffers are numbered to the last one or not at all", async () => {
  const numbers = async (count: number): Promise<string[]> => {
    const block = { size: 32768, order: 3, buffers: cut(1024, count) };
    const { texts } = textBoxes((await drawBlock(block)).svg());
    return texts.map(({ text }) => text).filter((text) =>
      /^[1-9]\d?$/.test(text)
    );
  };
  assertEquals((await numbers(9)).length, 9);
  assertEquals(await numbers(32), []);
});
