import { assert, assertEquals } from "@std/assert";
import { checkTree, type TreeFiles } from "../../lib/host/kernel_tree.ts";
import { kernel, releases } from "../../lib/releases/mod.ts";

const ROOT = new URL("../fixtures/kernel_tree/", import.meta.url);

/** The fixture, with pieces of some files replaced. */
function tree(altered: Record<string, [string, string]> = {}): TreeFiles {
  return {
    read(path) {
      let text: string;
      try {
        text = Deno.readTextFileSync(new URL(path, ROOT));
      } catch (error) {
        if (error instanceof Deno.errors.NotFound) return undefined;
        throw error;
      }
      const change = altered[path];
      if (change === undefined) return text;
      assert(text.includes(change[0]), `${path} has no "${change[0]}"`);
      return text.replace(...change);
    },
    list: (folder) =>
      [...Deno.readDirSync(new URL(folder, ROOT))].map(({ name }) => name),
  };
}

function verdicts(
  altered?: Record<string, [string, string]>,
): Map<string, ReturnType<typeof checkTree>[number]> {
  return new Map(
    checkTree(kernel("6.1"), tree(altered)).map((each) => [each.name, each]),
  );
}

Deno.test("the numbers of a tree that says the same", () => {
  const found = verdicts();
  const same = [...found.values()].filter(({ verdict }) => verdict === "same");
  assertEquals(
    same.map(({ name, where }) => `${name} ${where}`),
    [
      "page.maxOrder include/linux/mmzone.h",
      "page.costlyOrder include/linux/mmzone.h:10",
      "slub.minPartial[0] mm/slub.c:3",
      "slub.minPartial[1] mm/slub.c:4",
      "napi.skbCacheSize net/core/skbuff.c:1",
      "napi.keptWhenFull net/core/skbuff.c:3",
      "napi.bulkAlloc net/core/skbuff.c:2",
      "napi.netdevBudget net/core/dev.c:1",
      "napi.deferMax net/core/hotdata.c:3",
      "skb.netSkbPad include/linux/skbuff.h:3",
      "pageFragCache.maxSize include/linux/mm_types.h:1",
      "pageFragCache.biasValue include/linux/mm_types.h",
      "skbPageFrag.maxSize net/core/sock.c",
      "udp.rmemDefault include/net/sock.h:4",
      "udp.minRcvbuf include/net/sock.h:7",
      "udp.minSndbuf include/net/sock.h:6",
      "tcp.rmem[0] net/ipv4/tcp.c:11",
      "tcp.rmem[1] net/ipv4/tcp.c:12",
      "tcp.wmem[0] net/ipv4/tcp.c:7",
      "tcp.wmem[1] net/ipv4/tcp.c:8",
      "virtio.bufferMin drivers/net/virtio_net.c:2",
      "virtio.goodCopyLen drivers/net/virtio_net.c:3",
    ],
  );
  assert(same.every(({ value, found }) => value === found));
  assertEquals([...found.values()].filter((e) => e.verdict === "differs"), []);
});

Deno.test("an altered number is found, also through the defines that use it", () => {
  const found = verdicts({
    "include/linux/mmzone.h": ["COSTLY_ORDER 3", "COSTLY_ORDER 4"],
    "include/net/sock.h": ["(2048 +", "(2304 +"],
    "net/core/hotdata.c": ["= 64", "= 1 << 7"],
    "net/ipv4/tcp.c": ["= 131072;", "= 87380;"],
    "include/uapi/linux/if_ether.h": ["ETH_DATA_LEN 1500", "ETH_DATA_LEN 1514"],
  });
  const differs = [...found.values()].filter((e) => e.verdict === "differs");
  assertEquals(
    differs.map(({ name, value, found, where }) => [name, value, found, where]),
    [
      ["page.costlyOrder", 3, 4, "include/linux/mmzone.h:10"],
      ["napi.deferMax", 64, 128, "net/core/hotdata.c:3"],
      ["udp.minRcvbuf", 2304, 2560, "include/net/sock.h:7"],
      ["udp.minSndbuf", 4608, 5120, "include/net/sock.h:6"],
      ["tcp.rmem[1]", 131072, 87380, "net/ipv4/tcp.c:12"],
      ["virtio.bufferMin", 1518, 1532, "drivers/net/virtio_net.c:2"],
    ],
  );
});

Deno.test("what only a configuration or a running kernel knows is no difference", () => {
  const found = verdicts();
  for (
    const [name, why] of [
      ["slub.maxOrder", "IS_ENABLED(CONFIG_TINY) depends on the configuration"],
      ["tcp.rmem[2]", "most is not defined"],
    ] as const
  ) {
    const { verdict, found: value, text } = found.get(name)!;
    assertEquals([verdict, value], ["not constant", null]);
    assert(text.endsWith(why), text);
  }
});

Deno.test("code, absent names and absent files are told apart", () => {
  const found = verdicts();
  const of = (
    name: string,
  ) => [found.get(name)!.verdict, found.get(name)!.text];
  assertEquals(of("slub.cpuPartial[0]"), ["code", "set_cpu_partial is code"]);
  assertEquals(of("skb.skBuff"), ["code", "struct sk_buff"]);
  assertEquals(of("skb.sharedInfo"), ["code", "SKB_WITH_OVERHEAD is code"]);
  assertEquals(of("ixgbe.headerSize"), [
    "not found",
    "the tree has no such file",
  ]);
  assertEquals(of("skbPageFrag.minimum"), [
    "not found",
    "no define or initialiser of sk_page_frag_refill",
  ]);
});

Deno.test("a name that stands for itself, or in a circle, is not constant", () => {
  const files = {
    "mm/slub.c": "#define MIN_PARTIAL A\n#define A B\n#define B A\n",
  };
  const [min] = checkTree(kernel("6.1"), {
    read: (path) => files[path as keyof typeof files],
  }).filter(({ name }) => name === "slub.minPartial[0]");
  assertEquals(min!.verdict, "not constant");
});

Deno.test("every number of every release is claimed once", () => {
  for (const name of releases) {
    const chosen = kernel(name);
    const numbers = chosen.provenance().flatMap(({ value }) =>
      [value].flat().filter((each) => typeof each === "number")
    );
    const checks = checkTree(chosen, { read: () => undefined });
    assertEquals(checks.map(({ value }) => value), numbers);
    assert(checks.every(({ verdict }) => verdict === "not found"));
  }
});
