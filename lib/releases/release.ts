/**
 * How a release's facts become a {@linkcode Kernel}: resolve them for a build, remember where each came from.
 *
 * @module
 */

import type {
  Build,
  BuildOptions,
  Fact,
  FactChanges,
  Kernel,
  KernelFacts,
  KernelValues,
  Patch,
  ProvenanceRow,
} from "../kernel.ts";
import { alignUp } from "../sim/align.ts";
import { whole } from "../sim/check.ts";

/** A release: what it changes against another, and its default build. */
export interface Release {
  /** Name, for example `6.18`. */
  readonly name: string;
  /** The release that it is described against; null for the first. */
  readonly base: Release | null;
  /** The release or patch in whose record the changes stand. */
  readonly recordedBy: string;
  /** Facts that differ from the base's: all of them in the first release. */
  readonly changes: FactChanges;
  /** The build a user gets who asks for nothing. */
  readonly defaults: DefaultBuild;
}

/** Default build options of a release. */
export interface DefaultBuild {
  /** `MAX_TCP_HEADER`, bytes. */
  readonly maxTcpHeader: number;
  /** CPUs. */
  readonly cpus: number;
  /** `MAX_SKB_FRAGS` for a page size. */
  readonly maxSkbFrags: (pageSize: number) => number;
  /** Whether `MAX_TCP_HEADER` is rounded up to a cache line. */
  readonly alignsMaxTcpHeader: boolean;
}

/**
 * A fact with its source.
 *
 * @param value The value, or how it follows from the build.
 * @param where `file: symbol`.
 * @param origin How it is known.
 */
export function fact<T>(
  value: T | ((build: Build) => T),
  where: string,
  origin: string,
): Fact<T> {
  const at = where.indexOf(": ");
  return {
    value,
    file: where.slice(0, at),
    symbol: where.slice(at + 2),
    origin,
  };
}

/** The release that all others are described against. */
export function firstRelease(
  name: string,
  defaults: DefaultBuild,
  facts: KernelFacts,
): Release {
  return { name, base: null, recordedBy: name, changes: facts, defaults };
}

/** A later release: what changed since `base`. */
export function laterRelease(
  base: Release,
  name: string,
  changes: FactChanges,
  defaults: Partial<DefaultBuild> = {},
): Release {
  return {
    name,
    base,
    recordedBy: name,
    changes,
    defaults: { ...base.defaults, ...defaults },
  };
}

/** A release and those that it builds on, the first one first. */
function lineage(release: Release): Release[] {
  const line: Release[] = [];
  for (let at: Release | null = release; at !== null; at = at.base) {
    line.push(at);
  }
  return line.reverse();
}

/** All facts of a release by group. */
function factsOf(release: Release): KernelFacts {
  const facts: Record<string, unknown> = {};
  for (const { changes } of lineage(release)) {
    for (const [group, values] of Object.entries(changes)) {
      facts[group] = Object.assign(facts[group] ?? {}, values);
    }
  }
  return facts as unknown as KernelFacts;
}

/** For each `group.name` of a release, the release or patch whose record holds the fact. */
function recorders(release: Release): Map<string, string> {
  const by = new Map<string, string>();
  for (const { changes, recordedBy } of lineage(release)) {
    for (const [group, values] of Object.entries(changes)) {
      for (const key of Object.keys(values)) {
        by.set(`${group}.${key}`, recordedBy);
      }
    }
  }
  return by;
}

const PAGE_SIZES = [4096, 16384, 65536];

// Only undefined is absent: a null is somebody's mistake.
function absent(value: number | undefined, otherwise: number): number {
  return value === undefined ? otherwise : value;
}

const BUILD_KEYS = [
  "maxTcpHeader",
  "maxHeader",
  "pageSize",
  "cacheLine",
  "maxSkbFrags",
  "cpus",
  "skBuff",
  "skBuffFclones",
  "sharedInfoHeader",
  "fragSize",
];

/** Struct sizes that a build may change: the release's own facts unless given. */
const STRUCTS = [
  "skBuff",
  "skBuffFclones",
  "sharedInfoHeader",
  "fragSize",
] as const;

/** The struct sizes of a build, bytes. */
function resolveStructs(
  facts: KernelFacts,
  options: BuildOptions,
): Pick<Build, typeof STRUCTS[number]> {
  const own = (key: typeof STRUCTS[number]): number => {
    const { value } = facts.skb[key];
    if (typeof value !== "number") {
      throw new TypeError(`skb.${key} must not depend on the build`);
    }
    return value;
  };
  const skBuff = absent(options.skBuff, own("skBuff"));
  const fclones = own("skBuffFclones") + 2 * (skBuff - own("skBuff"));
  return {
    skBuff: whole("build.skBuff", skBuff, 128, 512),
    skBuffFclones: whole(
      "build.skBuffFclones",
      absent(options.skBuffFclones, fclones),
      2 * skBuff,
      2 * skBuff + 64,
    ),
    sharedInfoHeader: whole(
      "build.sharedInfoHeader",
      absent(options.sharedInfoHeader, own("sharedInfoHeader")),
      24,
      128,
    ),
    fragSize: whole(
      "build.fragSize",
      absent(options.fragSize, own("fragSize")),
      8,
      32,
    ),
  };
}

/** The build that `options` and a release's defaults give; refuses what no kernel could be built with. */
function resolveBuild(
  defaults: DefaultBuild,
  facts: KernelFacts,
  options: BuildOptions = {},
): Build {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(
      `build must be an object of build options, got ${String(options)}`,
    );
  }
  for (const key of Object.keys(options)) {
    if (!BUILD_KEYS.includes(key)) {
      throw new TypeError(
        `build.${key} is not a build option; there are ${
          BUILD_KEYS.join(", ")
        }`,
      );
    }
  }
  const pageSize = absent(options.pageSize, 4096);
  if (!PAGE_SIZES.includes(pageSize)) {
    throw new RangeError(
      `build.pageSize must be one of ${
        PAGE_SIZES.join(", ")
      } bytes, got ${pageSize}`,
    );
  }
  const cacheLine = whole(
    "build.cacheLine",
    absent(options.cacheLine, 64),
    32,
    256,
  );
  if ((cacheLine & (cacheLine - 1)) !== 0) {
    throw new RangeError(
      `build.cacheLine must be a power of two from 32 to 256 bytes, got ${cacheLine}`,
    );
  }
  const maxHeader = whole(
    "build.maxHeader",
    absent(options.maxHeader, 0),
    0,
    1024,
  );
  const fromHeader = defaults.alignsMaxTcpHeader
    ? alignUp(128 + maxHeader, cacheLine)
    : 128 + maxHeader;
  const maxTcpHeader = absent(
    options.maxTcpHeader,
    maxHeader > 0 ? fromHeader : defaults.maxTcpHeader,
  );
  const maxSkbFrags = options.maxSkbFrags === undefined
    ? defaults.maxSkbFrags(pageSize)
    : whole(
      "build.maxSkbFrags",
      options.maxSkbFrags,
      pageSize === 4096 ? 17 : 16,
      45,
    );
  return Object.freeze({
    maxTcpHeader: whole("build.maxTcpHeader", maxTcpHeader, 128, 1152),
    maxHeader,
    pageSize,
    cacheLine,
    maxSkbFrags,
    cpus: whole("build.cpus", absent(options.cpus, defaults.cpus), 1, 8192),
    ...resolveStructs(facts, options),
  });
}

function resolve(facts: KernelFacts, build: Build): KernelValues {
  const values: Record<string, Record<string, unknown>> = {};
  for (const [group, entries] of Object.entries(facts)) {
    const out: Record<string, unknown> = {};
    for (
      const [key, { value }] of Object.entries(
        entries as Record<string, Fact<unknown>>,
      )
    ) {
      const resolved = typeof value === "function" ? value(build) : value;
      out[key] = Array.isArray(resolved)
        ? Object.freeze([...resolved])
        : resolved;
    }
    // Spread, so that the engine lays the record out with fixed slots; one grown key by key becomes a hash table.
    values[group] = Object.freeze({ ...out });
  }
  return values as unknown as KernelValues;
}

/** The one implementation of {@linkcode Kernel}: frozen values over a release's facts. */
class KernelRecord implements Kernel {
  readonly name: string;
  readonly build: Build;
  readonly patches: readonly string[];
  declare readonly page: Kernel["page"];
  declare readonly slub: Kernel["slub"];
  declare readonly napi: Kernel["napi"];
  declare readonly skb: Kernel["skb"];
  declare readonly pageFragCache: Kernel["pageFragCache"];
  declare readonly skbPageFrag: Kernel["skbPageFrag"];
  declare readonly vhost: Kernel["vhost"];
  declare readonly udp: Kernel["udp"];
  declare readonly ip: Kernel["ip"];
  declare readonly tcp: Kernel["tcp"];
  declare readonly tun: Kernel["tun"];
  declare readonly virtio: Kernel["virtio"];
  declare readonly pagePool: Kernel["pagePool"];
  declare readonly ixgbe: Kernel["ixgbe"];
  readonly #release: Release;
  readonly #facts: KernelFacts;

  constructor(release: Release, build: Build, patches: readonly string[]) {
    this.name = release.name;
    this.build = build;
    this.patches = Object.freeze([...patches]);
    this.#release = release;
    this.#facts = factsOf(release);
    Object.assign(this, resolve(this.#facts, build));
    Object.freeze(this);
  }

  am(...patches: Patch[]): Kernel {
    return patches.reduce((kernel: Kernel, patch, i) => {
      if (typeof patch !== "function") {
        throw new TypeError(
          `am(): patch ${
            i + 1
          } must be a function from kernel to kernel, got ${typeof patch}`,
        );
      }
      const next = patch(kernel);
      if (!(next instanceof KernelRecord)) {
        throw new TypeError(
          `am(): patch ${i + 1} must return a kernel, got ${String(next)}`,
        );
      }
      return next;
    }, this);
  }

  with(name: string, changes: FactChanges): Kernel {
    const patched = laterRelease(this.#release, name, changes);
    return new KernelRecord({ ...patched, name: this.name }, this.build, [
      ...this.patches,
      name,
    ]);
  }

  provenance(): ProvenanceRow[] {
    const rows: ProvenanceRow[] = [];
    const recordedBy = recorders(this.#release);
    for (const [group, entries] of Object.entries(this.#facts)) {
      const values = this[group as keyof KernelValues] as unknown as Record<
        string,
        unknown
      >;
      for (
        const [key, entry] of Object.entries(
          entries as Record<string, Fact<unknown>>,
        )
      ) {
        const name = `${group}.${key}`;
        rows.push({
          name,
          value: values[key],
          file: entry.file,
          symbol: entry.symbol,
          release: recordedBy.get(name)!,
          origin: entry.origin,
        });
      }
    }
    return rows;
  }
}

/** The kernel that a release gives with a build. */
export function kernelOf(release: Release, options?: BuildOptions): Kernel {
  const facts = factsOf(release);
  const build = resolveBuild(release.defaults, facts, options);
  const { skb } = facts;
  const given = STRUCTS.filter((key) => build[key] !== skb[key].value);
  const changes = Object.fromEntries(
    given.map((key) => [key, {
      ...skb[key],
      value: build[key],
      origin: "build option",
    }]),
  );
  const built = given.length === 0
    ? release
    : laterRelease(release, release.name, { skb: changes });
  return new KernelRecord(built, build, []);
}
