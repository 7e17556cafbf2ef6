import { assertEquals, assertThrows } from "@std/assert";
import {
  evaluate,
  type Names,
  NotConstant,
} from "../../lib/host/c_expression.ts";

const names: Names = {
  value(name) {
    const known: Record<string, bigint> = { PAGE_SIZE: 4096n, ORDER: 3n };
    const value = known[name];
    if (value === undefined) throw new NotConstant(`${name} is not defined`);
    return value;
  },
  call: (name, args) =>
    name === "twice" ? 2n * evaluate(args[0]!, names) : null,
  sizeOf: (type) => type === "struct sk_buff" ? 232n : 8n,
};

Deno.test("constant expressions have the value that C gives them", () => {
  const values: Record<string, number> = {
    "42": 42,
    "0x10": 16,
    "010": 8,
    "64u": 64,
    "4UL * 1024 * 1024": 4194304,
    "(1 << 15)": 32768,
    "1 + 2 * 3": 7,
    "(1 + 2) * 3": 9,
    "10 - 4 - 3": 3,
    "7 / 2 + 7 % 2": 4,
    "-1": -1,
    "~0 & 0xff": 255,
    "!0 + !5": 1,
    "PAGE_SIZE << ORDER": 32768,
    "1 < 2 && 3 != 3 || 0": 0,
    "PAGE_SIZE > 1024 ? 1 : 2": 1,
    "(int)PAGE_SIZE": 4096,
    "(unsigned long) 5 + 1": 6,
    "sizeof(struct sk_buff) + 1": 233,
    "twice(twice(1 + 1))": 8,
    "'A'": 65,
    "4096 >> 1 >> 1": 1024,
    "6 ^ 3 | 8": 13,
  };
  for (const [text, value] of Object.entries(values)) {
    assertEquals(Number(evaluate(text, names)), value, text);
  }
});

Deno.test("what is no constant says why", () => {
  const problems: Record<string, string> = {
    "": "ends early",
    "1 +": "ends early",
    "(1": 'where ")" belongs',
    "1 2": '"2" after an expression',
    "1 / 0": "division by zero",
    "1 << 64": "a shift by 64",
    "UNKNOWN + 1": "UNKNOWN is not defined",
    "f(1)": "f() is not known",
    "f(1": "open parenthesis",
    '"text"': 'no constant expression from ""text""',
    "{ 1, 2 }": "no constant expression",
    "a[1]": "a is not defined",
    "* 3": '"*" in a constant expression',
  };
  for (const [text, problem] of Object.entries(problems)) {
    assertThrows(() => evaluate(text, names), NotConstant, problem, text);
  }
});
