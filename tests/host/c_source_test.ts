import { assert, assertEquals, assertFalse } from "@std/assert";
import { CSource } from "../../lib/host/c_source.ts";

const source = new CSource(`#include <linux/skbuff.h>
#include "local.h"
/* #define COMMENTED 1
 */
#define PLAIN 1 // one
#define LONG (PLAIN + \\
	2)
#define MACRO(a, b) ((a) + (b))
#ifdef CONFIG_BIG
#define SIZE 2
#else
# define SIZE 1
#endif
#if PLAIN > 1
#define LATE 1
#elif PLAIN
#define LATE 2
#endif
static const char *text = "/* no comment, x = 5; */";
int budget __read_mostly = 300;
int three[3] = { 1, 2,
	3 };
struct ops ops = {
	.weight = 64,
	.name = "x",
};
enum { FIRST = 7, SECOND };
typedef struct bio_vec frag_t;
static void init(int x)
{
	net->three[1] = 20;
	local = x ? 1 : (2, 3);
	if (budget == 5)
		return;
}
`);

Deno.test("defines: lines, continued lines, parameters, comments", () => {
  const of = (name: string) =>
    source.defines(name).map(({ line, text }) => [line, text]);
  assertEquals(of("COMMENTED"), []);
  assertEquals(of("PLAIN"), [[5, "1"]]);
  assertEquals(of("LONG"), [[6, "(PLAIN +  \t2)"]]);
  assertEquals(source.defines("MACRO")[0]!.params, ["a", "b"]);
  assertEquals(source.defines("MACRO")[0]!.line, 8);
  assertEquals(source.includes, ["linux/skbuff.h", "local.h"]);
});

Deno.test("each definition knows the conditions that it stands under", () => {
  const big = { test: "defined(CONFIG_BIG)", holds: true };
  assertEquals(
    source.defines("SIZE").map(({ text, conditions }) => [text, conditions]),
    [["2", [big]], ["1", [{ ...big, holds: false }]]],
  );
  assertEquals(
    source.defines("LATE").map(({ conditions }) => conditions),
    [[{ test: "PLAIN > 1", holds: true }], [{ test: "PLAIN", holds: true }]],
  );
  assertEquals(source.initialisers("budget")[0]!.conditions, []);
});

Deno.test("initialisers: variables, members, elements, enumerators, no comparisons", () => {
  const of = (name: string) =>
    source.initialisers(name).map(({ line, text, element, inFunction }) => [
      line,
      text,
      element,
      inFunction,
    ]);
  assertEquals(of("budget"), [[20, "300", null, false]]);
  assertEquals(of("weight"), [[24, "64", null, false]]);
  assertEquals(of("FIRST"), [[27, "7", null, false]]);
  assertEquals(of("three"), [
    [21, "{ 1, 2, 3 }", null, false],
    [31, "20", 1, true],
  ]);
  assertEquals(of("local"), [[32, "x ? 1 : (2, 3)", null, true]]);
  assertEquals(of("x"), []);
});

Deno.test("functions, structs and typedefs are no constants", () => {
  for (const name of ["init", "MACRO", "ops", "frag_t"]) {
    assert(source.describes(name), name);
  }
  for (const name of ["PLAIN", "budget", "SECOND"]) {
    assertFalse(source.describes(name), name);
  }
});
