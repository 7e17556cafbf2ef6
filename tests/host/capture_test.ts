import { assert, assertEquals, assertThrows } from "@std/assert";
import { type Capture, HostFormatError, readCapture } from "@truesize/lab";
import { bytes } from "./support.ts";
import { otherByteOrder, PcapngFile, udpFrame } from "./capture_files.ts";

// What tcpdump -r prints of the loopback captures: transport, bytes of payload.
const SENT = [
  [6, 0],
  [6, 0],
  [6, 0],
  [6, 1448],
  [6, 0],
  [6, 10],
  [6, 0],
  [17, 100],
  [17, 1472],
  [6, 0],
  [6, 0],
  [6, 0],
];

const payloads = (capture: Capture): (number | undefined)[][] =>
  capture.packets.map(({ ip }) => [ip?.protocol, ip?.payload]);

Deno.test("pcap: microseconds, nanoseconds and both byte orders read alike", () => {
  const micro = readCapture(bytes("lo_us.pcap"));
  const nano = readCapture(bytes("lo_ns.pcap"));
  assertEquals(payloads(micro), SENT);
  assertEquals(payloads(nano), SENT);
  assertEquals(micro.interfaces, [{ linkType: 1, snaplen: 96 }]);
  assertEquals(micro.packets[8]!.length, 14 + 20 + 8 + 1472);
  assertEquals(micro.packets[8]!.data.length, 96);
  assertEquals(micro.packets[0]!.timeNs! / 1000n % 1_000_000n, 374065n);
  // Two tcpdumps: the one with microseconds rounds.
  nano.packets.forEach(({ timeNs }, i) => {
    const apart = timeNs! - micro.packets[i]!.timeNs!;
    assert(apart > -1000n && apart < 1000n, `packet ${i}: ${apart} ns`);
  });
  assert(nano.packets.some(({ timeNs }) => timeNs! % 1000n !== 0n));
  for (const name of ["lo_us.pcap", "lo_ns.pcap"]) {
    const little = readCapture(bytes(name));
    const big = readCapture(otherByteOrder(bytes(name)));
    assertEquals(big, little);
  }
});

Deno.test("capture: addresses and ports of IPv4 and IPv6", () => {
  const { packets } = readCapture(bytes("lo_us.pcap"));
  const { ip } = packets[7]!;
  assertEquals(
    [ip!.version, ip!.source, ip!.destination, ip!.destinationPort],
    [6, "::1", "::1", 45012],
  );
  assertEquals(packets[3]!.ip!.source, "127.0.0.1");
  assertEquals(packets[3]!.ip!.destinationPort, 45011);
});

Deno.test("capture: the cooked link headers of -i any give directions", () => {
  for (const name of ["any_sll.pcap", "any_sll2.pcap"]) {
    const capture = readCapture(bytes(name));
    // Loopback shows each packet once, as it comes in.
    assertEquals(payloads(capture), SENT);
    assert(capture.packets.every(({ direction }) => direction === "in"), name);
    const outgoing = bytes(name);
    outgoing[24 + 16 + (name.includes("2") ? 10 : 1)] = 4;
    assertEquals(readCapture(outgoing).packets[0]!.direction, "out");
  }
});

Deno.test("capture: local addresses give directions where the file has none", () => {
  const file = new PcapngFile(true).section().interface(1, 0)
    .packet(0, 0n, udpFrame(100), 142).bytes;
  const direction = (local?: string[]) =>
    readCapture(file, local === undefined ? {} : { local }).packets[0]!
      .direction;
  assertEquals(
    [direction(), direction(["192.0.2.1"]), direction(["198.51.100.7"])],
    ["unknown", "out", "in"],
  );
});

Deno.test("pcapng of editcap and dumpcap", () => {
  const nano = readCapture(bytes("lo_ns.pcapng"));
  assertEquals(
    nano.packets.map(({ timeNs, length }) => [timeNs, length]),
    readCapture(bytes("lo_ns.pcap")).packets.map(({ timeNs, length }) => [
      timeNs,
      length,
    ]),
  );
  assertEquals(payloads(readCapture(bytes("any_sll2.pcapng"))), SENT);
  const dumpcap = readCapture(bytes("dumpcap.pcapng"));
  assertEquals(payloads(dumpcap), SENT);
  assertEquals(dumpcap.interfaces[0]!.name, "lo");
  // The interface's statistics are counted, not dropped in silence.
  assertEquals(dumpcap.otherBlocks.get(5), 1);
});

for (const little of [true, false]) {
  const order = little ? "little" : "big";
  Deno.test(`pcapng, ${order} endian: clocks, directions, simple packets, sections`, () => {
    const file = new PcapngFile(little);
    const flags = (value: number) => file.option(2, file.u32(value));
    file.section()
      .interface(1, 0, [
        ...file.option(2, [...new TextEncoder().encode("eth0")]),
        ...file.option(9, [9]),
        ...file.option(0, []),
      ])
      // Units of 2^-20 s, and five seconds to add.
      .interface(1, 64, [
        ...file.option(9, [0x80 | 20]),
        ...file.option(14, file.u64(5n)),
      ])
      .packet(0, 1_500_000_000_123_456_789n, udpFrame(1472), 1514, flags(1))
      .packet(1, 3n << 19n, udpFrame(10), 52, flags(2))
      .block(3, [...file.u32(142), ...file.padded(udpFrame(100))]);
    // A simple packet's length must fit the block: snaplen 0 keeps all of it.
    assertThrows(() => readCapture(file.bytes), HostFormatError, "142 bytes");
    const good = new PcapngFile(little).section()
      .interface(1, 0, [...file.option(9, [9]), ...file.option(0, [])])
      .interface(1, 64, [
        ...file.option(9, [0x80 | 20]),
        ...file.option(14, file.u64(5n)),
      ])
      .packet(0, 1_500_000_000_123_456_789n, udpFrame(1472), 1514, flags(1))
      .packet(1, 3n << 19n, udpFrame(10), 52, flags(2))
      .block(3, [...file.u32(42), ...file.padded(udpFrame(0))])
      .block(0xbad, file.u32(0))
      .section()
      .interface(101, 96)
      .packet(0, 7n, udpFrame(9).slice(14), 37);
    const capture = readCapture(good.bytes);
    assertEquals(
      capture.packets.map((
        { interface: id, timeNs, length, direction, ip },
      ) => [id, timeNs, length, direction, ip?.payload]),
      [
        [0, 1_500_000_000_123_456_789n, 1514, "in", 1472],
        [1, 6_500_000_000n, 52, "out", 10],
        [0, undefined, 42, "unknown", 0],
        // The second section counts its interfaces anew; microseconds unless said otherwise.
        [2, 7000n, 37, "unknown", 9],
      ],
    );
    assertEquals([...capture.otherBlocks], [[0xbad, 1]]);
  });
}

Deno.test("captures cut off at any byte are refused, but between two records of pcap", () => {
  for (
    const name of ["lo_us.pcap", "any_sll2.pcap", "lo_ns.pcapng"]
  ) {
    const file = bytes(name);
    const whole = readCapture(file);
    const ends = new Set(whole.packets.map(({ offset }) => offset));
    for (let length = 0; length < file.length; length++) {
      const cut = file.subarray(0, length);
      let capture: Capture | undefined;
      try {
        capture = readCapture(cut);
      } catch (error) {
        assert(error instanceof HostFormatError, `${name} ${length}: ${error}`);
        assert(error.offset >= 0 && error.offset <= length);
      }
      // A file may end after any whole record: neither format says how many there are.
      if (capture !== undefined && name.endsWith(".pcap")) {
        assert(ends.has(length), `${name}: ${length} bytes were accepted`);
      }
      if (ends.has(length)) {
        assertEquals(
          capture!.packets,
          whole.packets.filter(({ offset }) => offset < length),
        );
      }
    }
  }
});

Deno.test("captures: damage is refused with its offset", () => {
  const pcap = (at: number, value: number): Uint8Array => {
    const file = bytes("lo_us.pcap");
    new DataView(file.buffer).setUint32(at, value, true);
    return file;
  };
  const ng = (): PcapngFile => new PcapngFile(true).section();
  const swapped = ng().interface(1, 0).bytes;
  swapped[swapped.length - 4] = 99;
  for (
    const [file, offset, problem] of [
      [new Uint8Array(3), 0, "magic"],
      [new TextEncoder().encode("not a capture at all"), 0, "magic"],
      [pcap(4, 0x00050002), 4, "2.5"],
      [pcap(28, 1_000_000), 28, "second"],
      [pcap(32, 4_000_000_000), 32, "kept"],
      [pcap(32, 97), 32, "kept"],
      [swapped, 44, "two lengths"],
      [ng().packet(0, 0n, [], 0).bytes, 36, "no interface 0"],
      [ng().interface(1, 0).packet(1, 0n, [], 0).bytes, 56, "no interface 1"],
      [ng().interface(1, 0).packet(0, 0n, [1, 2], 1).bytes, 76, "2 bytes kept"],
      [ng().block(1, [0, 0, 0, 0]).bytes, 36, "cut off"],
      [
        new PcapngFile(true).block(0x0a0d0d0a, Array(16).fill(0)).bytes,
        8,
        "byte-order",
      ],
    ] as const
  ) {
    const error = assertThrows(
      () => readCapture(file),
      HostFormatError,
      problem,
    );
    assertEquals([problem, error.offset, error.line], [problem, offset, 0]);
  }
  assertThrows(() => readCapture("x" as never), TypeError, "Uint8Array");
});

Deno.test("frames: VLAN tags, fragments, IPv6 extensions and headers cut off", () => {
  const read = (frame: number[], length: number, linkType = 1) =>
    readCapture(
      new PcapngFile(true).section().interface(linkType, 0)
        .packet(0, 0n, frame, length).bytes,
    ).packets[0]!.ip;
  const plain = udpFrame(100);
  const tagged = [...plain.slice(0, 12), 0x81, 0, 0, 5, ...plain.slice(12)];
  assertEquals(read(tagged, 146)?.payload, 100);
  const later = udpFrame(1472);
  later[14 + 6] = 0x20;
  later[14 + 7] = 185;
  const fragment = read(later, 1514);
  assertEquals([fragment?.fragment, fragment?.payload, fragment?.sourcePort], [
    true,
    1480,
    undefined,
  ]);
  // IPv6 with hop-by-hop options and a first fragment in front of UDP.
  const v6 = [
    0x60,
    0,
    0,
    0,
    0,
    8 + 8 + 8 + 40,
    0,
    64,
    ...[0x20, 1, 0x0d, 0xb8, ...Array(11).fill(0), 1],
    ...[0x20, 1, 0x0d, 0xb8, 0, 0, 0, 1, ...Array(7).fill(0), 2],
    ...[44, 0, 0, 0, 0, 0, 0, 0],
    ...[17, 0, 0, 1, 0, 0, 0, 9],
    ...[0, 53, 19, 136, 0, 48, 0, 0],
  ];
  const six = read(v6, 104, 229);
  assertEquals(
    [six?.source, six?.destination, six?.fragment, six?.payload],
    ["2001:db8::1", "2001:db8:0:1::2", true, 40],
  );
  assertEquals(six?.destinationPort, 5000);
  for (let kept = 0; kept < v6.length; kept++) {
    assertEquals(read(v6.slice(0, kept), 104, 229), undefined);
  }
  assertEquals(read(plain, 142, 9999), undefined);
  assertEquals(
    read([...plain.slice(0, 12), 8, 6, ...plain.slice(14)], 142),
    undefined,
  );
});
