/**
 * 100,000 damaged inputs. Each gives typed values or a clear error with its line; nothing hangs, nothing is made up:
 * every value of the whole is found again by reading the few lines it belongs to alone.
 */

import { assert, assertEquals } from "@std/assert";
import { Btf, HostFormatError, readCapture } from "@truesize/lab";
import { bytes, text } from "./support.ts";
import { type Draw, drawing, mutated, mutatedBytes } from "./mutations.ts";
import { type Reader, READERS, record } from "./text_readers.ts";

const TEXTS = 92_000;
const FILES = 8_000;

const FIXTURES = READERS.flatMap(({ fixtures }) => fixtures.map(text));

/** Lines as the readers count them. */
const linesOf = (input: string): string[] =>
  input.replace(/^\ufeff/, "").split("\n").map((line) =>
    line.endsWith("\r") ? line.slice(0, -1) : line
  );

/** Reads a damaged text; true if it was accepted. */
function survives(reader: Reader, input: string): boolean {
  let values: string[];
  try {
    values = reader.values(input);
  } catch (error) {
    if (!(error instanceof HostFormatError)) throw error;
    const lines = linesOf(input);
    assertEquals(error.text, lines[error.line - 1]);
    assert(error.message.includes(`line ${error.line}: `), error.message);
    return false;
  }
  // Only the whole can tell a second value of one name; a part alone may only be refused where it holds nothing.
  const parts = new Set(
    reader.parts(linesOf(input)).flatMap((part) => {
      try {
        return reader.values(part);
      } catch (error) {
        if (error instanceof HostFormatError) return [];
        throw error;
      }
    }),
  );
  for (const value of values) {
    assert(parts.has(value), `${value} is in no part of ${record([input])}`);
  }
  return true;
}

for (const [i, reader] of READERS.entries()) {
  const runs = Math.ceil(TEXTS / READERS.length);
  Deno.test(`${reader.name}: ${runs} damaged outputs give values or an error with its line`, () => {
    const draw: Draw = drawing(i / 100 + 0.003);
    const fixtures = reader.fixtures.map(text);
    for (const fixture of fixtures) {
      assert(survives(reader, fixture));
      assertEquals(
        reader.values(fixture.replaceAll("\n", "\r\n")),
        reader.values(fixture),
      );
    }
    let accepted = 0;
    for (let run = 0; run < runs; run++) {
      const input = mutated(fixtures[run % fixtures.length]!, draw, FIXTURES);
      if (survives(reader, input)) accepted++;
    }
    // Both outcomes are met often: the damage is neither harmless nor always fatal.
    assert(
      accepted > runs / 50 && accepted < runs * 0.9,
      `${accepted} accepted`,
    );
  });
}

const CAPTURES = [
  "lo_us.pcap",
  "lo_ns.pcap",
  "any_sll.pcap",
  "any_sll2.pcap",
  "lo_ns.pcapng",
  "any_sll2.pcapng",
  "dumpcap.pcapng",
].map(bytes);

Deno.test(`captures: ${FILES / 2} damaged files give packets or an error with its offset`, () => {
  const draw = drawing(0.77);
  let accepted = 0;
  for (let run = 0; run < FILES / 2; run++) {
    const file = mutatedBytes(
      CAPTURES[run % CAPTURES.length]!,
      draw,
      CAPTURES[draw(CAPTURES.length)]!,
    );
    try {
      const { packets, interfaces } = readCapture(file);
      accepted++;
      let end = 0;
      for (const packet of packets) {
        const { data, length, offset } = packet;
        const at = data.byteOffset - file.byteOffset;
        // Records follow one another, and each packet's bytes lie in its own.
        assert(offset >= end && at > offset && data.length <= length);
        end = at + data.length;
        assert(end <= file.length && packet.interface < interfaces.length);
      }
    } catch (error) {
      if (!(error instanceof HostFormatError)) throw error;
      assert(error.offset >= 0 && error.offset <= file.length, error.message);
    }
  }
  assert(accepted > 100 && accepted < FILES / 2 - 100, `${accepted} accepted`);
});

Deno.test(`BTF: ${FILES / 2} damaged files give structs or an error with its offset`, () => {
  const draw = drawing(0.78);
  const whole = bytes("btf_6_18.bin");
  let accepted = 0;
  for (let run = 0; run < FILES / 2; run++) {
    const file = mutatedBytes(whole, draw, whole);
    try {
      const types = new Btf(file);
      for (const name of ["sk_buff", "skb_shared_info", "sk_buff_fclones"]) {
        const struct = types.struct(name);
        for (const { offset, size } of struct?.members ?? []) {
          assert(Number.isInteger(offset) && Number.isInteger(size));
        }
      }
      accepted++;
    } catch (error) {
      if (!(error instanceof HostFormatError)) throw error;
      assert(error.offset >= 0 && error.offset <= file.length, error.message);
    }
  }
  assert(accepted > 100 && accepted < FILES / 2 - 100, `${accepted} accepted`);
});

Deno.test("one line of a million characters takes no reader long", () => {
  for (const reader of READERS) {
    const fixture = text(reader.fixtures[0]!);
    for (
      const long of [
        " ",
        "\t",
        "a",
        "1",
        "/",
        "(",
        ":",
        "a ",
        "1 ",
        "a:1 ",
        ",",
        "-",
        "[",
        "/*",
      ]
    ) {
      const line = long.repeat(1_000_000 / long.length);
      for (const input of [line, `${fixture}${line}`, `${line}\n${fixture}`]) {
        try {
          reader.values(input);
        } catch (error) {
          if (!(error instanceof HostFormatError)) throw error;
        }
      }
    }
  }
});
