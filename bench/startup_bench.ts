/**
 * How long a script takes from its start to its end that imports the module and asks what one packet costs. The empty script
 * is Deno itself; a first run, which transpiles, is left out as warm-up.
 */
const scripts: Record<string, string> = {
  "an empty script": "",
  "@truesize/lab/engine": "@truesize/lab/engine",
  "@truesize/lab": "@truesize/lab",
};

const folder = await Deno.makeTempDir({
  dir: new URL(".", import.meta.url).pathname,
  prefix: ".startup-",
});
globalThis.addEventListener(
  "unload",
  () => Deno.removeSync(folder, { recursive: true }),
);

for (const [i, [name, entry]] of Object.entries(scripts).entries()) {
  const file = `${folder}/${i}.ts`;
  Deno.writeTextFileSync(
    file,
    entry === "" ? "" : `import { kernel, truesizeOf } from "${entry}";
truesizeOf({ kernel: kernel("6.18"), path: "veth", protocol: "udp", payload: 1472 });
`,
  );
  Deno.bench(name, {
    group: "start-up of a script",
    baseline: i === 0,
    n: 20,
    warmup: 3,
  }, () => {
    const { success } = new Deno.Command(Deno.execPath(), {
      args: ["run", file],
      stdout: "null",
      stderr: "inherit",
    }).outputSync();
    if (!success) throw new Error(`${name} failed`);
  });
}
