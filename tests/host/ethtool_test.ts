import { assertEquals, assertThrows } from "@std/assert";
import {
  HostFormatError,
  readEthtoolFeatures,
  readEthtoolRings,
} from "@truesize/lab";
import { plain, text } from "./support.ts";

Deno.test("ethtool -k of several devices", () => {
  const devices = readEthtoolFeatures(text("ethtool_k.txt"));
  assertEquals(
    devices.map(({ device, features }) => [
      device,
      Object.keys(features).length,
    ]),
    [["lo", 63], ["eth0", 63]],
  );
  assertEquals(devices[0]!.features["tx-scatter-gather"], {
    on: true,
    fixed: true,
  });
  assertEquals(devices[0]!.features["generic-receive-offload"], {
    on: true,
    fixed: false,
  });
});

Deno.test("ethtool -k: the older title, and what was asked for", () => {
  const [old] = readEthtoolFeatures(text("ethtool_k_2_6.txt"));
  assertEquals(old!.features["udp-fragmentation-offload"]!.on, false);
  const [asked] = readEthtoolFeatures(text("ethtool_k_requested.txt"));
  assertEquals(asked!.features["tx-scatter-gather"], {
    on: false,
    fixed: false,
    requested: true,
  });
  assertEquals(asked!.features["generic-receive-offload"], {
    on: true,
    fixed: false,
  });
});

Deno.test("ethtool -g: maximums apart from what is set", () => {
  const [eth0] = readEthtoolRings(text("ethtool_g.txt"));
  assertEquals(plain(eth0!.maximums), { RX: 256, TX: 256 });
  assertEquals(plain(eth0!.current), { RX: 256, TX: 256, "TX Push": "off" });
  const rings = readEthtoolRings(text("ethtool_g_ixgbe.txt"));
  assertEquals(rings.map(({ device }) => device), ["ens1f0", "ens2f0np0"]);
  assertEquals(
    [rings[0]!.maximums["RX"], rings[0]!.current["RX"]],
    [4096, 512],
  );
  assertEquals(rings[1]!.current["CQE Size"], 64);
});

Deno.test("ethtool: what cannot be read is refused with its line", () => {
  for (
    const [read, bad, line, problem] of [
      [readEthtoolFeatures, "rx: on\n", 1, "no device"],
      [readEthtoolFeatures, "Features for a:\nrx: perhaps\n", 2, "on or off"],
      [readEthtoolFeatures, "Features for a:\nrx: on\nrx: on\n", 3, "twice"],
      [readEthtoolRings, "Ring parameters for a:\nRX: 5\n", 2, "neither"],
      [
        readEthtoolRings,
        "Ring parameters for a:\nPre-set maximums:\nRX: 1,024\n",
        3,
        "not a ring",
      ],
      [
        readEthtoolRings,
        "Ring parameters for a:\nPre-set maximums:\nRX: 5\nRX: 5\n",
        4,
        "twice",
      ],
    ] as const
  ) {
    const error = assertThrows(() => read(bad), HostFormatError, problem);
    assertEquals([bad, error.line], [bad, line]);
  }
});
