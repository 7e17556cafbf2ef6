import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  HostCounters,
  HostFormatError,
  readNetstat,
  readNstat,
  readProcNet,
} from "@truesize/lab";
import { text } from "./support.ts";

Deno.test("nstat, its JSON, netstat -s and /proc/net name one counter alike", () => {
  const proc = readProcNet(
    text("proc_net_snmp.txt") + text("proc_net_netstat.txt"),
  );
  const nstat = readNstat(text("nstat_a.txt"));
  const json = readNstat(text("nstat.json"));
  const netstat = readNetstat(text("netstat_s.txt"));
  assert(nstat.names.length > 70 && netstat.names.length > 60);
  // The four were taken within a second, on a machine that did little else.
  for (const printed of [nstat, json, netstat]) {
    for (const [name, value] of printed) {
      assert(proc.has(name) || name.includes("6"), name);
      if (name.includes("Octets") || name.includes("6")) continue;
      const later = proc.exact(name) - value;
      assert(later >= -60n && later <= 60n, `${name}: ${value}, ${later}`);
    }
  }
  assertEquals(nstat.get("TcpExtTCPRcvCoalesce"), 22050);
  assertEquals(netstat.get("TcpExtTCPFastRetrans"), 3);
  assertEquals(netstat.get("IcmpInDestUnreachs"), 2);
  assertEquals(netstat.get("IcmpMsgInType3"), 2);
  assertEquals(netstat.unnamed, []);
});

Deno.test("/proc/net/snmp6 has a counter a line", () => {
  const counters = readProcNet(text("proc_net_snmp6.txt"));
  assertEquals([counters.names.length, counters.get("Ip6InReceives")], [
    90,
    43,
  ]);
});

Deno.test("netstat -s of net-tools 1.60: its sentences, misprints included", () => {
  const counters = readNetstat(text("netstat_s_1_60.txt"));
  const expected = {
    TcpRetransSegs: 121093,
    TcpOutSegs: 97101010,
    TcpInErrs: 7,
    UdpRcvbufErrors: 1097,
    UdpNoPorts: 55,
    TcpExtPruneCalled: 120,
    TcpExtRcvPruned: 16,
    TcpExtOfoPruned: 5,
    TcpExtTCPRcvCollapsed: 685394,
    TcpExtListenOverflows: 516,
    TcpExtListenDrops: 516,
    TcpExtTCPFullUndo: 54444,
    TcpExtTCPTimeouts: 307499,
    TcpExtTCPSchedulerFailed: 12,
    TcpExtDelayedACKLost: 3312,
    TcpExtTCPBacklogDrop: 744,
    IcmpInErrors: 2,
    IcmpInTimeExcds: 4,
    IcmpOutEchoReps: 197,
    IpOutNoRoutes: 14,
  };
  for (const [name, value] of Object.entries(expected)) {
    assertEquals([name, counters.get(name)], [name, value]);
  }
  assertEquals(counters.unnamed, []);
});

Deno.test("counters above 2^53 keep every digit", () => {
  const counters = readNetstat(text("netstat_s_1_60.txt"));
  assertEquals(counters.exact("IpExtInOctets"), 9223372036854775900n);
  assertThrows(() => counters.get("IpExtInOctets"), RangeError, "exact()");
  const json = readNstat('{"kernel":{"IpExtInOctets":18446744073709551615}}');
  assertEquals(json.exact("IpExtInOctets"), 18446744073709551615n);
});

Deno.test("netstat -s in another language: unknown sentences are kept", () => {
  const counters = readNetstat(text("netstat_s_de.txt"));
  assertEquals(counters.unnamed, [
    { line: 2, section: "Ip", text: "150987 Pakete insgesamt empfangen" },
    { line: 3, section: "Ip", text: "139641 Anfragen ausgesendet" },
    { line: 6, section: "Tcp", text: "4 Verbindungen hergestellt" },
  ]);
  assertEquals(counters.get("TcpExtTCPRcvCoalesce"), 22050);
});

Deno.test("since(): what was counted between two moments", () => {
  const before = new HostCounters(new Map([["A", 5n], ["B", 1n << 60n]]));
  const after = new HostCounters(new Map([["B", (1n << 60n) + 3n], ["C", 2n]]));
  const since = after.since(before);
  assertEquals([...since], [["B", 3n], ["C", 2n], ["A", -5n]]);
  assertEquals(since.get("nothing"), 0);
});

Deno.test("counters: what cannot be read is refused with its line", () => {
  for (
    const [read, bad, line, problem] of [
      [readNstat, "#kernel\nIpInReceives 5\n", 2, "rate"],
      [readNstat, "#kernel\nIpInReceives 5,5 0.0\n", 2, "whole number"],
      [readNstat, "A 1 0.0\nA 1 0.0\n", 2, "twice"],
      [readNstat, `A ${"9".repeat(20)} 0.0\n`, 1, "64 bits"],
      [readNstat, '{"kernel":{"A":1}', 1, "cut off"],
      [readNstat, '{"kernel": {"A":1\n}}x\n', 2, "JSON"],
      [readNstat, '{"A":1}', 1, "JSON"],
      [readNstat, '{"kernel": {\n"A": 1,\n"A": 1}}', 3, "twice"],
      [readProcNet, "Tcp: A B\nTcp: 1\n", 2, "1 values for 2 names"],
      [readProcNet, "Tcp: A B\nUdp: 1 2\n", 2, "must follow line 1"],
      [readProcNet, "Tcp: A B\n", 1, "missing"],
      [readProcNet, "Tcp: 1 2\nTcp: A B\n", 1, "no counter's name"],
      [readProcNet, "Tcp: A\nTcp: 1\nTcp: A\nTcp: 1\n", 4, "twice"],
      [readNetstat, "5 segments received\n", 1, "section"],
      [readNetstat, "Tcp:\n    no number\n", 2, "one number"],
      [readNetstat, "Tcp:\n    1 of 2\n", 2, "one number"],
      [readNetstat, "Tcp:\n    1.234 resets sent\n", 2, "a whole number"],
    ] as const
  ) {
    const error = assertThrows(() => read(bad), HostFormatError, problem);
    assertEquals([bad, error.line], [bad, line]);
  }
});
