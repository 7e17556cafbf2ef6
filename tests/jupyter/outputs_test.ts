import { assertEquals } from "@std/assert";
import { makeRequest, type Message } from "../../lib/jupyter/messages.ts";
import { OutputCollector } from "../../lib/jupyter/outputs.ts";

function output(
  parent: string,
  type: string,
  content: Record<string, unknown>,
): Message {
  const message = makeRequest(type, content, "s");
  return { ...message, parent_header: { msg_id: parent } };
}

function shown(text: string, displayId?: string): Record<string, unknown> {
  return {
    data: { "text/plain": text },
    metadata: {},
    transient: displayId === undefined ? {} : { display_id: displayId },
  };
}

function collect(...messages: Message[]): (id: string) => unknown[] {
  const collector = new OutputCollector();
  for (const message of messages) collector.add(message);
  return (id) =>
    collector.of(id).map((o) =>
      "data" in o
        ? o.data["text/plain"]
        : o.output_type === "stream"
        ? `${o.name}:${o.text}`
        : o
    );
}

Deno.test("outputs belong to their parent, whenever they come", () => {
  const of = collect(
    output("a", "display_data", shown("a1")),
    output("b", "display_data", shown("b1")),
    output("a", "display_data", shown("a2")),
    makeRequest("display_data", shown("nobody's"), "s"),
  );
  assertEquals(of("a"), ["a1", "a2"]);
  assertEquals(of("b"), ["b1"]);
  assertEquals(of("c"), []);
});

Deno.test("consecutive prints to one stream are joined", () => {
  const of = collect(
    output("a", "stream", { name: "stdout", text: "1\n" }),
    output("a", "stream", { name: "stdout", text: "2\n" }),
    output("a", "stream", { name: "stderr", text: "3\n" }),
    output("a", "stream", { name: "stdout", text: "4\n" }),
  );
  assertEquals(of("a"), ["stdout:1\n2\n", "stderr:3\n", "stdout:4\n"]);
});

Deno.test("an update replaces every display of its id, in any cell, and is not one itself", () => {
  const of = collect(
    output("a", "display_data", shown("0 %", "p")),
    output("a", "display_data", shown("other", "q")),
    output("b", "display_data", shown("50 %", "p")),
    output("c", "update_display_data", shown("100 %", "p")),
    output("c", "update_display_data", shown("nothing")),
  );
  assertEquals(of("a"), ["100 %", "other"]);
  assertEquals(of("b"), ["100 %"]);
  assertEquals(of("c"), []);
});

Deno.test("clear_output clears at once, or when the next output comes", () => {
  const of = collect(
    output("a", "display_data", shown("old")),
    output("a", "clear_output", { wait: false }),
    output("b", "display_data", shown("old")),
    output("b", "clear_output", { wait: true }),
    output("c", "display_data", shown("old")),
    output("c", "clear_output", { wait: true }),
    output("c", "display_data", shown("new")),
    output("c", "display_data", shown("newer")),
  );
  assertEquals(of("a"), []);
  assertEquals(of("b"), ["old"]);
  assertEquals(of("c"), ["new", "newer"]);
});

Deno.test("what travels with a display is not stored", () => {
  const collector = new OutputCollector();
  collector.add(output("a", "display_data", shown("x", "p")));
  collector.add(
    output("a", "execute_result", { ...shown("y"), execution_count: 2 }),
  );
  collector.add(
    output("a", "error", {
      ename: "E",
      evalue: "v",
      traceback: ["t"],
      extra: 1,
    }),
  );
  assertEquals(collector.of("a"), [
    { output_type: "display_data", data: { "text/plain": "x" }, metadata: {} },
    {
      output_type: "execute_result",
      data: { "text/plain": "y" },
      metadata: {},
      execution_count: 2,
    },
    { output_type: "error", ename: "E", evalue: "v", traceback: ["t"] },
  ]);
});
