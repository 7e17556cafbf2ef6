/**
 * README.md and CONTRIBUTING.md do what they say: each sh block runs as written (the ts blocks are doc tests of
 * `deno task test`), and each file that they name exists.
 */

import { assert, assertEquals } from "@std/assert";
import { ROOT } from "./deno_command.ts";

const FILES = ["README.md", "CONTRIBUTING.md"];

/** Commands that the gate is made of, or that it is a part of: `.ci/run` and `tasks/ok.ts` run them. */
const BY_THE_GATE = [
  "npx -y deno@2.9.6 task reproduce",
  "npx -y deno@2.9.6 task test",
  "deno task ok",
  "deno task ok --fast",
];

interface Block {
  readonly file: string;
  readonly script: string;
}

function shBlocks(): Block[] {
  return FILES.flatMap((file) =>
    [...Deno.readTextFileSync(ROOT + file).matchAll(/^```sh\n(.*?)^```$/gms)]
      .map(([, script]) => ({ file, script: script! }))
  );
}

/** A script without the commands that the gate runs, and those. */
function split(script: string): { rest: string; left: string[] } {
  const left: string[] = [];
  const rest = script.split("\n").filter((line) => {
    const command = line.replace(/\s+#.*/, "").trim();
    if (!BY_THE_GATE.includes(command)) return true;
    left.push(command);
    return false;
  });
  return { rest: rest.join("\n"), left };
}

/** A folder with `deno`, and an `npx` that knows that one package alone: both this very Deno, with no registry to ask. */
async function commands(folder: string): Promise<void> {
  const deno = `'${Deno.execPath().replaceAll("'", `'\\''`)}'`;
  const scripts = {
    deno: `exec ${deno} "$@"`,
    npx: `[ "$1 $2" = "-y deno@2.9.6" ] || exit 97; shift 2; exec ${deno} "$@"`,
  };
  for (const [name, text] of Object.entries(scripts)) {
    await Deno.writeTextFile(`${folder}/${name}`, `#!/bin/sh\n${text}\n`, {
      mode: 0o755,
    });
  }
}

/** What a script's `--out` names, and the shards beside it. */
function outputs(script: string): string[] {
  const stems = [...script.matchAll(/--out (\w+)\./g)].map(([, stem]) => stem!);
  return [...Deno.readDirSync(ROOT)].map(({ name }) => name)
    .filter((name) => stems.some((stem) => name.startsWith(`${stem}.`)));
}

for (const { file, script } of shBlocks()) {
  const { rest, left } = split(script);
  const first = script.split("\n")[0];
  if (rest.replaceAll(/\s/g, "") === "") continue;
  Deno.test(`${file}: ${first} …`, async () => {
    assertEquals(left, [], "a block is the gate's or the test's, not both");
    assertEquals(outputs(rest), [], "results of the reader's own");
    const bin = await Deno.makeTempDir();
    try {
      await commands(bin);
      const { code, stdout, stderr } = await new Deno.Command("bash", {
        args: ["-eu", "-c", rest],
        cwd: ROOT,
        env: { NO_COLOR: "1", PATH: `${bin}:${Deno.env.get("PATH")}` },
        stdin: "null",
      }).output();
      const said = [stdout, stderr].map((b) => new TextDecoder().decode(b));
      assertEquals(code, 0, said.join("\n"));
    } finally {
      await Deno.remove(bin, { recursive: true });
      for (const name of outputs(rest)) await Deno.remove(ROOT + name);
    }
  });
}

Deno.test("every command that the gate is said to run stands in a block", () => {
  const left = shBlocks().flatMap(({ script }) => split(script).left);
  assertEquals([...new Set(left)].sort(), [...BY_THE_GATE].sort());
});

Deno.test("blocks are sh or ts, nothing that no test runs", () => {
  for (const file of FILES) {
    const text = Deno.readTextFileSync(ROOT + file);
    const fences = [...text.matchAll(/^```(.*)$/gm)].map(([, info]) => info!);
    const opening = fences.filter((_, i) => i % 2 === 0);
    assert(opening.every((info) => info === "sh" || info === "ts"), file);
  }
});

/** Whether a path of the text, `*` included, is one of the project's. */
function exists(path: string): boolean {
  const at = path.lastIndexOf("/") + 1;
  const name = new RegExp(
    `^${path.slice(at).replaceAll(".", "\\.").replaceAll("*", ".*")}$`,
  );
  try {
    if (path.endsWith("/")) return Deno.statSync(ROOT + path).isDirectory;
    return [...Deno.readDirSync(ROOT + path.slice(0, at))]
      .some((entry) => name.test(entry.name));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

Deno.test("every file that README and CONTRIBUTING name exists", () => {
  const missing: string[] = [];
  let named = 0;
  for (const file of FILES) {
    const text = Deno.readTextFileSync(ROOT + file)
      .replaceAll(/^```.*?^```$/gms, "");
    const paths = [
      ...text.matchAll(/\]\((?!https?:)([^)]+)\)/g),
      // Capitals stand for what the reader puts there: linux_X_Y.ts.
      ...text.matchAll(
        /`((?:lib|tests|tasks|sweeps|notebooks|bench|docs|\.ci)\/[^`\s]*)`/g,
      ),
    ].map(([, path]) => path!).filter((path) =>
      !/[A-Z]{2}|_X_|X\.|NAME/.test(path)
    );
    for (const path of paths) {
      named++;
      if (!exists(path)) missing.push(`${file}: ${path}`);
    }
  }
  assertEquals(missing, []);
  assert(named > 30, `${named} paths seen`);
});
