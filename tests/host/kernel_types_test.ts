import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  Btf,
  fromBtf,
  fromPahole,
  HostFormatError,
  kernel,
  readPahole,
  releases,
  truesizeOf,
} from "@truesize/lab";
import { bytes, text } from "./support.ts";

interface Struct {
  size: number;
  fields?: Record<
    string,
    { off: number; size?: number; bit?: number; bits?: number }
  >;
}

const { kernels }: { kernels: Record<string, Record<string, Struct>> } = JSON
  .parse(
    Deno.readTextFileSync(
      new URL("../fixtures/structs.json", import.meta.url),
    ),
  );

/** Compares a layout with the measured one; returns how many members were compared. */
function compare(types: Btf, name: string, measured: Struct): number {
  const struct = types.struct(name);
  assert(struct !== undefined, name);
  assertEquals([name, struct.size], [name, measured.size]);
  const fields = Object.entries(measured.fields ?? {});
  for (const [field, { off, size, bit, bits }] of fields) {
    const member = struct.members.find((m) =>
      m.name === field || m.name.endsWith(`.${field}`)
    );
    const where = `${name}.${field}`;
    assertEquals([where, member?.offset], [where, off]);
    if (bits === undefined) assertEquals([where, member?.size], [where, size]);
    else {
      assertEquals([where, member?.bits], [where, { first: bit, count: bits }]);
    }
  }
  return fields.length;
}

/** The file with every number in the other byte order, by the format's own description. */
function bigEndian(file: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const out = file.slice();
  const from = new DataView(file.buffer), to = new DataView(out.buffer);
  const swap = (at: number) => to.setUint32(at, from.getUint32(at, true));
  to.setUint16(0, from.getUint16(0, true));
  for (let at = 4; at < 24; at += 4) swap(at);
  const end = 24 + from.getUint32(12, true);
  for (let at = 24; at < end; at += 4) swap(at);
  return out;
}

Deno.test("BTF: sizes, offsets and bits of the measured structs, in both byte orders", () => {
  for (
    const file of [bytes("btf_6_18.bin"), bigEndian(bytes("btf_6_18.bin"))]
  ) {
    const types = new Btf(file);
    let compared = 0;
    for (const name of ["sk_buff", "sk_buff_fclones", "skb_shared_info"]) {
      compared += compare(types, name, kernels["6.18"]![name]!);
    }
    assert(compared > 80, `${compared}`);
    assertEquals(types.struct("tcp_sock"), undefined);
    const frags = types.struct("skb_shared_info")!.members.find(({ name }) =>
      name === "frags"
    );
    assertEquals(frags, { name: "frags", offset: 48, size: 272, count: 17 });
  }
});

const VMLINUX = "/sys/kernel/btf/vmlinux";
const readable = (() => {
  try {
    Deno.openSync(VMLINUX).close();
    return true;
  } catch {
    return false;
  }
})();

Deno.test({
  name: "BTF of the running kernel is read whole",
  ignore: !readable,
  fn: () => {
    const file = Deno.readFileSync(VMLINUX);
    const types = new Btf(file);
    assert(types.types > 10_000);
    const build = fromBtf(file);
    const nearest = kernel(releases.at(-1)!, build);
    assertEquals(nearest.skb.skBuff, types.struct("sk_buff")!.size);
    if (!Deno.osRelease().startsWith("6.18.")) return;
    // Other builds of 6.18 differ in sizes; of the same size, the members must lie where they were measured.
    let compared = 0;
    for (const [name, measured] of Object.entries(kernels["6.18"]!)) {
      if (types.struct(name)?.size !== measured.size) continue;
      compared += compare(types, name, measured);
    }
    assert(compared > 0);
  },
});

Deno.test("pahole's structs are BTF's, written out", () => {
  const types = new Btf(bytes("btf_6_18.bin"));
  const printed = readPahole(text("pahole_6_18.txt"));
  assertEquals(
    printed.names,
    [
      "sk_buff_fclones",
      "skb_shared_info",
      "sk_buff",
    ].sort((a, b) => printed.names.indexOf(a) - printed.names.indexOf(b)),
  );
  let compared = 0;
  for (const name of printed.names) {
    const struct = types.struct(name)!;
    assertEquals(printed.struct(name)!.size, struct.size);
    for (const member of printed.struct(name)!.members) {
      const same = struct.members.find((m) => m.name === member.name);
      assertEquals([name, member], [name, same]);
      compared++;
    }
    assertEquals(printed.struct(name)!.members.length, struct.members.length);
  }
  assert(compared > 100, `${compared}`);
});

Deno.test("pahole -E and --sizes", () => {
  const expanded = readPahole(text("pahole_E_6_18.txt"));
  const plain = readPahole(text("pahole_6_18.txt"));
  const members = expanded.struct("skb_shared_info")!.members;
  for (const member of plain.struct("skb_shared_info")!.members) {
    assertEquals(members.find(({ name }) => name === member.name), member);
  }
  assertEquals(members.find(({ name }) => name === "frags.offset"), {
    name: "frags.offset",
    offset: 60,
    size: 4,
  });
  const sizes = readPahole(text("pahole_sizes_6_18.txt"));
  assertEquals(sizes.struct("sk_buff"), {
    name: "sk_buff",
    size: 224,
    members: [],
  });
  assertEquals(sizes.struct("tcp_sock")?.size, 2304);
});

Deno.test("pahole 1.9: members of unions take the union's offset", () => {
  const { members, size } = readPahole(text("pahole_3_12.txt"))
    .struct("sk_buff")!;
  const at = (name: string) =>
    members.find((member) => member.name === name)?.offset;
  assertEquals([at("csum"), at("csum_start"), at("csum_offset")], [
    116,
    116,
    118,
  ]);
  assertEquals([at("destructor"), size], [128, 232]);
});

Deno.test("kernel() takes the struct sizes of a build", () => {
  const measured = kernel("6.18", fromBtf(bytes("btf_6_18.bin")));
  assertEquals(measured.build, kernel("6.18").build);
  assertEquals(fromPahole(text("pahole_6_18.txt")), {
    skBuff: 224,
    skBuffFclones: 456,
    sharedInfoHeader: 48,
    fragSize: 16,
    maxSkbFrags: 17,
  });
  // A build with more options on: past four cache lines, each packet costs one more.
  const grown = kernel("6.18", { skBuff: 264 });
  assertEquals(
    [grown.skb.skBuff, grown.skb.skBuffAligned, grown.skb.skBuffFclones],
    [264, 320, 536],
  );
  const cost = (k: typeof grown): number =>
    truesizeOf({ kernel: k, path: "veth", protocol: "udp", payload: 1472 })
      .truesize;
  assertEquals([cost(kernel("6.18")), cost(grown)], [2304, 2368]);
  assertEquals(grown.udp.minRcvbuf, 2048 + 320);
  assertEquals(grown.udp.rmemDefault, 256 * (256 + 320 + 320));
  const wide = kernel("6.18", { sharedInfoHeader: 112 });
  assertEquals([wide.skb.sharedInfo, wide.skb.smallHead], [384, 640]);
});

Deno.test("a size given as a build option says so in its provenance", () => {
  const origin = (k: ReturnType<typeof kernel>, name: string) =>
    k.provenance().find((row) => row.name === name)?.origin;
  const grown = kernel("6.18", { skBuff: 232 });
  assertEquals(origin(grown, "skb.skBuff"), "build option");
  assertEquals(
    origin(kernel("6.18", { skBuff: 224 }), "skb.skBuff"),
    "BTF of the measured build",
  );
  assertEquals(
    kernel("6.12", { skBuff: 232 }).provenance(),
    kernel("6.12").provenance(),
  );
  for (
    const options of [{ skBuff: 100 }, { fragSize: 7 }, { skBuffFclones: 9 }]
  ) {
    const [name] = Object.keys(options);
    assertThrows(
      () => kernel("6.18", options),
      RangeError,
      `build.${name}`,
    );
  }
});

Deno.test("BTF: cut off anywhere it is refused, with an offset inside", () => {
  const file = bytes("btf_6_18.bin");
  for (let length = 0; length < file.length; length++) {
    const error = assertThrows(
      () => new Btf(file.subarray(0, length)),
      HostFormatError,
    );
    assert(error.offset >= 0 && error.offset <= length);
  }
});

Deno.test("BTF: damage is refused", () => {
  const damaged = (at: number, value: number): Uint8Array => {
    const file = bytes("btf_6_18.bin");
    file[at] = value;
    return file;
  };
  for (
    const [file, offset, problem] of [
      [damaged(0, 0), 0, "magic"],
      [damaged(2, 2), 2, "version 2"],
      [damaged(14, 255), 8, "past the end"],
      [damaged(22, 255), 16, "past the end"],
      [damaged(24 + 7, 31), 24, "unknown kind"],
    ] as const
  ) {
    const error = assertThrows(() => new Btf(file), HostFormatError, problem);
    assertEquals(error.offset, offset);
  }
  // A typedef of itself: header, one struct with one member of that type.
  const loop = new Uint8Array(24 + 24 + 12 + 5);
  const view = new DataView(loop.buffer);
  view.setUint16(0, 0xeb9f, true);
  loop[2] = 1;
  [24, 0, 36, 36, 5].forEach((n, i) => view.setUint32(4 + 4 * i, n, true));
  [1, 4 << 24 | 1, 8, 1, 2, 0, 3, 8 << 24, 2].forEach((n, i) =>
    view.setUint32(24 + 4 * i, n, true)
  );
  loop.set([0, 115, 0, 116, 0], 60);
  assertThrows(() => new Btf(loop).struct("s"), HostFormatError, "itself");
  assertThrows(() => fromBtf(loop), RangeError, "sk_buff is missing");
});

Deno.test("pahole: what cannot be read is refused with its line", () => {
  const end = "\n\t/* size: 8, cachelines: 1, members: 1 */\n};\n";
  for (
    const [bad, line, problem] of [
      ["int x;\n", 1, "not in a struct"],
      ["struct a {\n\tint x; /* 0 4 */\n};\n", 1, "no line with its size"],
      ["struct a {\n\tint x; /* 0 4 */\n", 1, "without its end"],
      [`struct a {\n\tint x;${end}`, 2, "offset and size"],
      [`struct a {\n\tint x; /* 8 4 */${end}`, 4, "behind the struct's 8"],
      [`struct a {\n\tint x /* 0 4 */${end}`, 2, "declaration"],
      [`struct a {\n\tint x; /*   4 */${end}`, 2, "offset and size"],
      [
        `struct a {\n\tint x; /* 0 4 */${end}struct a {\n\tint x; /* 0 4 */${end}`,
        8,
        "twice",
      ],
    ] as const
  ) {
    const error = assertThrows(() => readPahole(bad), HostFormatError, problem);
    assertEquals([bad, error.line], [bad, line]);
  }
  assertThrows(
    () => fromPahole("sk_buff\t232\t0\n"),
    RangeError,
    "skb_shared_info is missing",
  );
});
