/** `deno task probe` on the machine that runs the tests. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { nearestRelease, type TableData } from "@truesize/lab";

const onLinux = Deno.build.os === "linux";
const hasSs = onLinux && (() => {
  try {
    return new Deno.Command("ss", { args: ["-V"] }).outputSync().success;
  } catch {
    return false;
  }
})();

async function probe(args: string[], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--unstable-net", "tasks/probe.ts", ...args],
    cwd: new URL("../..", import.meta.url),
    env: { NO_COLOR: "1", ...env },
  }).output();
  const decoder = new TextDecoder();
  return {
    code,
    stdout: decoder.decode(stdout),
    stderr: decoder.decode(stderr),
  };
}

Deno.test({
  name: "probe: the model agrees with the kernel it runs on",
  ignore: !hasSs,
  fn: async () => {
    const { code, stdout, stderr } = await probe(["--json"]);
    const result = JSON.parse(stdout) as {
      osRelease: string;
      tables: TableData[];
      unseen: string[];
      differences: string[];
    };
    const udp = result.tables.find(({ id }) => id === "udp-truesize")!;
    assert(udp.rows.length > 15, stderr);
    assert(udp.rows.every(({ cells }) => cells[0]!.published! > 0));
    assertEquals(result.unseen, []);
    // One write, a few at once, and twenty each behind the delayed ACK of the one before.
    const tcp = result.tables.find(({ id }) => id === "tcp-truesize")!;
    assertEquals(tcp.rows.length, 7);
    assert(tcp.rows.every(({ cells }) => cells[0]!.simulated! > 0));
    // Of a release that has a model every figure is demanded: UDP charges and drops, TCP charges, slabs where they can be
    // read. One without a model of its own may differ; the probe then says where.
    if (!nearestRelease(result.osRelease).same) {
      assertEquals(code, result.differences.length > 0 ? 1 : 0);
      return;
    }
    assertEquals(result.differences, []);
    assertEquals(code, 0);
  },
});

Deno.test({
  name: "probe says so where ss is missing",
  ignore: !onLinux,
  fn: async () => {
    const { code, stdout, stderr } = await probe([], { PATH: "/nonexistent" });
    assertEquals([code, stdout], [2, ""]);
    assertStringIncludes(stderr, "ss is not there");
  },
});

Deno.test("probe --help, and an unknown option", async () => {
  const help = await probe(["--help"]);
  assertEquals(help.code, 0);
  assertStringIncludes(help.stdout, "stops by itself");
  const unknown = await probe(["--everything"]);
  assertEquals(unknown.code, 2);
  assertStringIncludes(unknown.stderr, "--everything");
});
