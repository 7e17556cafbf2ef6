/** Every reader of text: its fixtures, its values, and the parts of a text that hold one value's lines each. */

import { assert } from "@std/assert";
import {
  type HostCounters,
  readBuddyinfo,
  readEthtoolFeatures,
  readEthtoolRings,
  readNetstat,
  readNstat,
  readPahole,
  readProcNet,
  readSlabinfo,
  readSockstat,
  readSs,
  readSysctl,
  readSysSlab,
} from "@truesize/lab";

/** A reader of text: what it read as one string a value, and the text's parts that stand alone. */
export interface Reader {
  readonly name: string;
  readonly fixtures: readonly string[];
  readonly values: (text: string) => string[];
  /** Parts of an accepted text that hold one value's lines each, with the lines that name their columns. */
  readonly parts: (lines: readonly string[]) => string[];
}

const filled = (lines: readonly string[]): string[] =>
  lines.filter((line) => line.trim() !== "");

const counterValues = (counters: HostCounters): string[] => [
  ...[...counters].map(([name, value]) => `${name} ${value}`),
  ...counters.unnamed.map(({ section, text }) => `${section}|${text}`),
];

/** Lines in groups that begin where `starts` says; what stands before the first is left out. */
function groups(
  lines: readonly string[],
  starts: (line: string) => boolean,
): string[][] {
  const out: string[][] = [];
  for (const line of lines) {
    if (starts(line)) out.push([line]);
    else out.at(-1)?.push(line);
  }
  return out;
}

/** Lines of snmp6, and the pairs of lines of snmp and netstat. */
function procNetParts(lines: readonly string[]): string[] {
  const all = filled(lines);
  const parts: string[] = [];
  for (let i = 0; i < all.length; i++) {
    if (/^\w+[ \t]/.test(all[i]!)) parts.push(all[i]!);
    else parts.push(`${all[i]}\n${all[++i] ?? ""}`);
  }
  return parts;
}

export const record = (values: object): string => JSON.stringify(values);

export const READERS: readonly Reader[] = [
  {
    name: "ss",
    fixtures: [
      "ss_3_16.txt",
      "ss_4_15.txt",
      "ss_6_9.txt",
      "ss_um.txt",
      "ss_uamnpe.txt",
      "ss_tuamn.txt",
      "ss_tmi.txt",
      "ss_H_tmin.txt",
      "ss_tmianpeO.txt",
      "ss_tmin_tos.txt",
      "ss_xm.txt",
    ],
    values: (text) =>
      readSs(text).sockets.map(({ line, detailLine, ...socket }) => {
        assert(detailLine === line || detailLine === line + 1);
        return record(socket);
      }),
    parts: (lines) => {
      let header = "";
      const parts: string[] = [];
      for (const [i, line] of lines.entries()) {
        if (/^[ \t]/.test(line) || line === "") continue;
        if (line.includes("Local Address:Port")) header = line;
        else {
          const next = lines[i + 1] ?? "";
          parts.push(
            [header, line, /^[ \t]/.test(next) ? next : ""].join("\n"),
          );
        }
      }
      return parts;
    },
  },
  {
    name: "nstat",
    fixtures: ["nstat_a.txt"],
    values: (text) => counterValues(readNstat(text)),
    parts: filled,
  },
  {
    name: "nstat --json",
    fixtures: ["nstat.json"],
    values: (text) => counterValues(readNstat(text)),
    // One value is found by its own text, since all stand in one line.
    parts: (lines) => [
      ...filled(lines),
      ...[...lines.join("\n").matchAll(/"(\w+)"[ \t]*:[ \t]*(-?\d+)/g)].map((
        [, name, value],
      ) => `{"kernel":{"${name}":${value}}}`),
    ],
  },
  {
    name: "netstat -s",
    fixtures: ["netstat_s.txt", "netstat_s_1_60.txt", "netstat_s_de.txt"],
    values: (text) => counterValues(readNetstat(text)),
    parts: (lines) => {
      let title = "", histogram = "";
      return filled(lines).flatMap((line) => {
        if (/^\S/.test(line)) [title, histogram] = [line, ""];
        else if (/^\s*ICMP (?:input|output) histogram:$/.test(line)) {
          histogram = line;
        } else return [[title, histogram, line].join("\n")];
        return [];
      });
    },
  },
  {
    name: "/proc/net",
    fixtures: ["proc_net_snmp.txt", "proc_net_netstat.txt"],
    values: (text) => counterValues(readProcNet(text)),
    parts: procNetParts,
  },
  {
    name: "/proc/net/snmp6",
    fixtures: ["proc_net_snmp6.txt"],
    values: (text) => counterValues(readProcNet(text)),
    parts: procNetParts,
  },
  {
    name: "sockstat",
    fixtures: ["sockstat.txt", "sockstat6.txt"],
    values: (text) => Object.entries(readSockstat(text)).map(record),
    parts: filled,
  },
  {
    name: "slabinfo",
    fixtures: ["slabinfo_6_18.txt", "slabinfo_slab_3_12.txt"],
    values: (text) =>
      readSlabinfo(text).map(({ line: _, ...cache }) => record(cache)),
    parts: (lines) => {
      const [version, ...rows] = filled(lines);
      return rows.map((row) => `${version}\n${row}`);
    },
  },
  {
    name: "/sys/kernel/slab",
    fixtures: ["sys_slab_6_18.txt"],
    values: (text) => {
      const { caches, texts, aliases } = readSysSlab(text);
      return [
        ...Object.entries(caches).flatMap(([cache, files]) =>
          Object.entries(files).map(([file, n]) => `${cache}/${file} ${n}`)
        ),
        ...Object.entries(texts).flatMap(([name, value]) =>
          value.split("\n").map((line) => `${name} ${line}`)
        ),
        ...Object.entries(aliases).map(([name, target]) =>
          `${name} -> ${target}`
        ),
      ];
    },
    parts: filled,
  },
  {
    name: "buddyinfo",
    fixtures: ["buddyinfo.txt"],
    values: (text) =>
      readBuddyinfo(text).map(({ line: _, ...zone }) => record(zone)),
    parts: filled,
  },
  {
    name: "sysctl",
    fixtures: ["sysctl_6_18.txt", "sysctl_procps_old.txt"],
    values: (text) => {
      const sysctl = readSysctl(text);
      return sysctl.names.flatMap((name) =>
        sysctl.text(name)!.split("\n").map((line) => `${name} = ${line}`)
      );
    },
    parts: filled,
  },
  {
    name: "ethtool -k",
    fixtures: [
      "ethtool_k.txt",
      "ethtool_k_2_6.txt",
      "ethtool_k_requested.txt",
    ],
    values: (text) =>
      readEthtoolFeatures(text).flatMap(({ device, features }) =>
        Object.entries(features).map((feature) => record([device, feature]))
      ),
    parts: (lines) =>
      groups(filled(lines), (line) => / for \S+:$/.test(line)).flatMap((
        [title, ...rest],
      ) => rest.map((line) => `${title}\n${line}`)),
  },
  {
    name: "ethtool -g",
    fixtures: ["ethtool_g.txt", "ethtool_g_ixgbe.txt"],
    values: (text) =>
      readEthtoolRings(text).flatMap(({ device, maximums, current }) => [
        ...Object.entries(maximums).map((ring) =>
          record([device, "max", ring])
        ),
        ...Object.entries(current).map((ring) => record([device, "now", ring])),
      ]),
    parts: (lines) =>
      groups(filled(lines), (line) => / for \S+:$/.test(line)).flatMap((
        [title, ...rest],
      ) =>
        groups(
          rest,
          (line) =>
            /^(?:Pre-set maximums|Current hardware settings):$/.test(line),
        ).flatMap((
          [part, ...rows],
        ) => rows.map((row) => `${title}\n${part}\n${row}`))
      ),
  },
  {
    name: "pahole",
    fixtures: [
      "pahole_6_18.txt",
      "pahole_3_12.txt",
      "pahole_E_6_18.txt",
      "pahole_sizes_6_18.txt",
    ],
    values: (text) => {
      const types = readPahole(text);
      return types.names.map((name) => record(types.struct(name)!));
    },
    parts: (lines) => {
      const parts: string[] = [];
      let depth = 0, part: string[] = [];
      for (const line of lines) {
        if (depth === 0) part = [];
        part.push(line);
        if (line.trim().endsWith("{")) depth++;
        if (line.trim().startsWith("}")) depth--;
        if (depth === 0) parts.push(part.join("\n"));
      }
      return parts;
    },
  },
];
