import { assertEquals, assertThrows } from "@std/assert";
import {
  HostFormatError,
  kernel,
  readBuddyinfo,
  readSlabinfo,
  readSockstat,
  readSysctl,
  readSysSlab,
} from "@truesize/lab";
import { plain, text } from "./support.ts";

Deno.test("sockstat and sockstat6", () => {
  const both = readSockstat(text("sockstat.txt") + text("sockstat6.txt"));
  assertEquals(plain(both["TCP"]!), {
    inuse: 4,
    orphan: 0,
    tw: 2,
    alloc: 7,
    mem: 54,
  });
  assertEquals([both["UDP6"]!["inuse"], both["FRAG"]!["memory"]], [1, 0]);
});

Deno.test("slabinfo of SLUB", () => {
  const rows = readSlabinfo(text("slabinfo_6_18.txt"));
  const heads = rows.find(({ name }) => name === "skbuff_small_head")!;
  assertEquals(heads.objectSize, kernel("6.18").skb.smallHead);
  assertEquals(heads.objects, heads.slabs * heads.objectsPerSlab);
  assertEquals(heads.other, undefined);
});

Deno.test("slabinfo of SLAB with statistics: limits, and the groups behind are kept", () => {
  const rows = readSlabinfo(text("slabinfo_slab_3_12.txt"));
  assertEquals(rows.map(({ name }) => name), [
    "skbuff_fclone_cache",
    "skbuff_head_cache",
    "size-2048(DMA)",
  ]);
  assertEquals(rows[1]!.tunables, {
    limit: 120,
    batchcount: 60,
    sharedfactor: 8,
  });
  assertEquals([rows[1]!.slabs, rows[1]!.sharedAvailable], [20, 60]);
  assertEquals(
    rows[1]!.other,
    ": globalstat 11001 600 55 1 0 0 0 0 0 : cpustat 88100 1401 89001 244",
  );
});

Deno.test("/sys/kernel/slab: values, what stands behind them, and aliases", () => {
  const slab = readSysSlab(text("sys_slab_6_18.txt"));
  const heads = slab.caches["skbuff_small_head"]!;
  assertEquals(
    [heads["object_size"], heads["order"], heads["objs_per_slab"]],
    [576, 1, 14],
  );
  assertEquals(heads["usersize"], 256);
  assertEquals(slab.texts["kmalloc-64/objects"], "N0=2492");
  assertEquals(
    slab.texts["kmalloc-64/slabs_cpu_partial"],
    "128(4) C0=96(3) C1=32(1)",
  );
  assertEquals(slab.aliases["skbuff_fclone_cache"], ":0000512");
  const path = readSysSlab(
    "/sys/kernel/slab/:A-0000128/ctor:init_once+0x0/0x20\n:0000512/order:1\n./x/slab_size:64\n",
  );
  assertEquals(path.texts[":A-0000128/ctor"], "init_once+0x0/0x20");
  assertEquals(path.caches[":0000512"]!["order"], 1);
  assertEquals(path.caches["x"]!["slab_size"], 64);
});

Deno.test("buddyinfo", () => {
  const zones = readBuddyinfo(text("buddyinfo.txt"));
  assertEquals(zones.map(({ zone }) => zone), ["DMA", "DMA32", "Normal"]);
  assertEquals(zones[2]!.free.length, 11);
  assertEquals([zones[2]!.free[0], zones[2]!.free[10]], [420, 876]);
});

Deno.test("sysctl -a", () => {
  const sysctl = readSysctl(text("sysctl_6_18.txt"));
  assertEquals(sysctl.number("net.core.max_skb_frags"), 17);
  assertEquals(sysctl.numbers("net.ipv4.tcp_rmem"), [4096, 131072, 33554432]);
  assertEquals(sysctl.text("net.core.default_qdisc"), "pfifo_fast");
  assertEquals(sysctl.text("kernel.shmmax"), "18446744073692774399");
  assertEquals(sysctl.number("net.ipv4.nothing"), undefined);
  assertThrows(
    () => sysctl.number("kernel.shmmax"),
    HostFormatError,
    "line 4",
  );
  assertThrows(() => sysctl.number("net.ipv4.tcp_rmem"), HostFormatError);
});

Deno.test("sysctl: what a stream heeds, and what was not printed stays the release's", () => {
  const sysctl = (lines: string[]) => readSysctl(lines.join("\n")).stream();
  const stream = sysctl([
    "net.ipv4.tcp_rmem = 4096 131072 6291456",
    "net.ipv4.tcp_adv_win_scale = -2",
    "net.ipv4.tcp_moderate_rcvbuf = 0",
    "net.core.rmem_max = 4194304",
    "net.ipv4.tcp_ecn = 2",
  ]);
  assertEquals(
    Object.entries(stream).filter(([, value]) => value !== undefined),
    [
      ["tcp_rmem", [4096, 131072, 6291456]],
      ["tcp_adv_win_scale", -2],
      ["tcp_moderate_rcvbuf", false],
      ["rmem_max", 4194304],
    ],
  );
  for (const value of ["4096 131072", "1 2 3 4", "4096 x 3"]) {
    const error = assertThrows(
      () => sysctl(["a = 1", `net.ipv4.tcp_rmem = ${value}`]),
      HostFormatError,
      "net.ipv4.tcp_rmem must be",
    );
    assertEquals(error.line, 2);
  }
});

Deno.test("sysctl of old procps: complaints, values of several lines, slashes", () => {
  const sysctl = readSysctl(text("sysctl_procps_old.txt"));
  assertEquals(sysctl.messages.map(({ line }) => line), [1, 2, 11]);
  assertEquals(
    sysctl.text("dev.cdrom.info"),
    "CD-ROM information, Id: cdrom.c 3.20 2003/12/17\n\ndrive name:\t\tsr0",
  );
  assertEquals(sysctl.number("net.ipv4.conf.eth0/100.rp_filter"), 1);
  assertEquals(sysctl.number("net.ipv4.conf.eth0/200.rp_filter"), 2);
});

Deno.test("proc and sys: what cannot be read is refused with its line", () => {
  const version = "slabinfo - version: 2.1\n";
  const row = "a 1 2 3 4 5 : tunables 0 0 0 : slabdata 1 1 0\n";
  for (
    const [read, bad, line, problem] of [
      [readSockstat, "TCP inuse 4\n", 1, "protocol"],
      [readSockstat, "TCP: inuse\n", 1, "whole number"],
      [readSockstat, "TCP: inuse 1 inuse 2\n", 1, "twice"],
      [readSockstat, "TCP: inuse 1\nTCP: inuse 1\n", 2, "twice"],
      [readSlabinfo, row, 1, "version"],
      [readSlabinfo, "slabinfo - version: 1.1\n", 1, "version"],
      [readSlabinfo, version + row + row, 3, "twice"],
      [readSlabinfo, `${version}a 1 2 3 4 : tunables 0 0 0\n`, 2, "name"],
      [
        readSlabinfo,
        `${version}a 1 2 3 4 5 : tunables 0 0 : slabdata 1 1 0\n`,
        2,
        "tunables",
      ],
      [
        readSlabinfo,
        `${version}a 1 2 3 4 5 : tunables 0 0 0 : slabdata 1 1\n`,
        2,
        "slabdata",
      ],
      [readSysSlab, "kmalloc-64 64\n", 1, "neither"],
      [readSysSlab, "x/order:1\nx/order:1\n", 2, "twice"],
      [readSysSlab, "a -> :1\na -> :2\n", 2, "elsewhere"],
      [readBuddyinfo, "Node 0 zone DMA 1 2\n", 1, "zone"],
      [readBuddyinfo, "Node 0, zone DMA 1 x\n", 1, "order 1"],
      [
        readBuddyinfo,
        "Node 0, zone DMA 1 2\nNode 0, zone Normal 1\n",
        2,
        "1 orders",
      ],
      [readSysctl, "net.core.rmem_max 5\n", 1, "name = value"],
      [readSysctl, "a = 1\nb = 2\na = 1\n", 3, "twice"],
    ] as const
  ) {
    const error = assertThrows(() => read(bad), HostFormatError, problem);
    assertEquals([bad, error.line], [bad, line]);
  }
});

Deno.test("names from the input reach no prototype", () => {
  readSysSlab("__proto__/order:7\n");
  readSockstat("sockets: __proto__ 7\n");
  assertEquals(({} as Record<string, unknown>)["order"], undefined);
});
