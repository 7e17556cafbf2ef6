import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { threads } from "@truesize/lab";

async function reproduce(
  ...args: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "tasks/reproduce.ts", ...args],
    cwd: new URL("../..", import.meta.url),
    env: { NO_COLOR: "1" },
  }).output();
  const decoder = new TextDecoder();
  return {
    code,
    stdout: decoder.decode(stdout),
    stderr: decoder.decode(stderr),
  };
}

Deno.test("--json prints all threads' tables and nothing else", async () => {
  const { code, stdout, stderr } = await reproduce("--json");
  assertEquals(code, 0);
  const result = JSON.parse(stdout) as Record<string, { id: string }[]>;
  assertEquals(Object.keys(result), Object.keys(threads));
  assert(
    result["skb-page-frag-refill"]!.some(({ id }) =>
      id === "buffers-per-block"
    ),
  );
  // In a pipe there is no progress.
  assert(!stderr.includes("reproducing"), stderr);
});

Deno.test("text, Markdown and CSV", async () => {
  const thread = ["--thread", "skb-page-frag-refill"];
  assertStringIncludes((await reproduce(...thread)).stdout, "4,864");
  assertStringIncludes(
    (await reproduce(...thread, "--markdown")).stdout,
    "| 2048 bytes |",
  );
  assertStringIncludes(
    (await reproduce(...thread, "--csv")).stdout,
    "2048 bytes",
  );
});

Deno.test("bad arguments: exit 2, the message names them, standard output stays empty", async () => {
  for (
    const [args, message] of [
      [["--thread", "nonesuch"], '"nonesuch"'],
      [["--fast"], "--fast"],
      [["--json", "--csv"], "exclude"],
      [["extra"], "extra"],
    ] as const
  ) {
    const { code, stdout, stderr } = await reproduce(...args);
    assertEquals([code, stdout], [2, ""]);
    assertStringIncludes(stderr, message);
  }
});
