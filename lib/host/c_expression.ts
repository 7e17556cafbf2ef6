/**
 * Constant expressions of C, as defines and initialisers hold them.
 *
 * @module
 */

/** Why an expression has no value. */
export class NotConstant extends Error {}

/** What stands for a name in an expression. */
export interface Names {
  /** The value of a name. @throws {NotConstant} It has none. */
  value(name: string): bigint;
  /** The value of a macro with arguments, or null if there is no such macro. @throws {NotConstant} It has no value. */
  call(name: string, args: readonly string[]): bigint | null;
  /** The size of a type, bytes. @throws {NotConstant} It is not known. */
  sizeOf(type: string): bigint;
}

const TOKEN =
  /\s*(0[xX][0-9a-fA-F]+|\d+|[A-Za-z_]\w*|<<|>>|<=|>=|==|!=|&&|\|\||'(?:\\.|[^'\\])'|[-+*/%&|^~!()<>?:,.[\]])/y;

const TYPE_WORDS = new Set(
  "unsigned signed int long short char const u8 u16 u32 u64 s8 s16 s32 s64 __u8 __u16 __u32 __u64 size_t ssize_t gfp_t bool"
    .split(" "),
);

function tokens(text: string): string[] {
  const found: string[] = [];
  TOKEN.lastIndex = 0;
  while (text.slice(TOKEN.lastIndex).trim() !== "") {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (match === null) {
      throw new NotConstant(`no constant expression from "${text.slice(at)}"`);
    }
    found.push(match[1]!);
    // The suffix of a number says its type, which a value of any size does not need.
    if (/^\d/.test(match[1]!)) {
      const suffix = /[uUlL]*/y;
      suffix.lastIndex = TOKEN.lastIndex;
      suffix.exec(text);
      TOKEN.lastIndex = suffix.lastIndex;
    }
  }
  return found;
}

const LEVELS: readonly (readonly string[])[] = [
  ["||"],
  ["&&"],
  ["|"],
  ["^"],
  ["&"],
  ["==", "!="],
  ["<", ">", "<=", ">="],
  ["<<", ">>"],
  ["+", "-"],
  ["*", "/", "%"],
];

function applied(operator: string, a: bigint, b: bigint): bigint {
  if ((operator === "/" || operator === "%") && b === 0n) {
    throw new NotConstant("division by zero");
  }
  if ((operator === "<<" || operator === ">>") && (b < 0n || b > 63n)) {
    throw new NotConstant(`a shift by ${b}`);
  }
  switch (operator) {
    case "||":
      return BigInt(a !== 0n || b !== 0n);
    case "&&":
      return BigInt(a !== 0n && b !== 0n);
    case "|":
      return a | b;
    case "^":
      return a ^ b;
    case "&":
      return a & b;
    case "==":
      return BigInt(a === b);
    case "!=":
      return BigInt(a !== b);
    case "<":
      return BigInt(a < b);
    case ">":
      return BigInt(a > b);
    case "<=":
      return BigInt(a <= b);
    case ">=":
      return BigInt(a >= b);
    case "<<":
      return a << b;
    case ">>":
      return a >> b;
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    default:
      return a % b;
  }
}

/** Recursive descent over the tokens of one expression. */
class Parser {
  readonly #tokens: readonly string[];
  readonly #names: Names;
  #at = 0;

  constructor(text: string, names: Names) {
    this.#tokens = tokens(text);
    this.#names = names;
  }

  whole(): bigint {
    const value = this.#choice();
    if (this.#at < this.#tokens.length) {
      throw new NotConstant(`"${this.#tokens[this.#at]}" after an expression`);
    }
    return value;
  }

  #take(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at++;
    return true;
  }

  #expect(token: string): void {
    if (!this.#take(token)) {
      throw new NotConstant(
        `"${this.#tokens[this.#at] ?? "the end"}" where "${token}" belongs`,
      );
    }
  }

  #choice(): bigint {
    const condition = this.#binary(0);
    if (!this.#take("?")) return condition;
    const yes = this.#choice();
    this.#expect(":");
    const no = this.#choice();
    return condition !== 0n ? yes : no;
  }

  #binary(level: number): bigint {
    if (level === LEVELS.length) return this.#unary();
    let left = this.#binary(level + 1);
    for (;;) {
      const operator = this.#tokens[this.#at];
      if (operator === undefined || !LEVELS[level]!.includes(operator)) {
        return left;
      }
      this.#at++;
      left = applied(operator, left, this.#binary(level + 1));
    }
  }

  #unary(): bigint {
    if (this.#take("-")) return -this.#unary();
    if (this.#take("+")) return this.#unary();
    if (this.#take("~")) return ~this.#unary();
    if (this.#take("!")) return BigInt(this.#unary() === 0n);
    return this.#primary();
  }

  #primary(): bigint {
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw new NotConstant("an expression ends early");
    if (token === "(") {
      if (TYPE_WORDS.has(this.#tokens[this.#at] ?? "")) {
        while (!this.#take(")")) this.#at++;
        return this.#unary();
      }
      const value = this.#choice();
      this.#expect(")");
      return value;
    }
    // Octal as in C: a leading zero.
    if (/^0\d+$/.test(token)) return BigInt(`0o${token.slice(1)}`);
    if (/^\d/.test(token)) return BigInt(token);
    if (/^'.'$/.test(token)) return BigInt(token.charCodeAt(1));
    if (!/^[A-Za-z_]/.test(token)) {
      throw new NotConstant(`"${token}" in a constant expression`);
    }
    if (this.#tokens[this.#at] !== "(") return this.#names.value(token);
    const args = this.#arguments();
    if (token === "sizeof") return this.#names.sizeOf(args.join(", "));
    const value = this.#names.call(token, args);
    if (value === null) throw new NotConstant(`${token}() is not known`);
    return value;
  }

  /** The texts between the commas of a pair of parentheses. */
  #arguments(): string[] {
    this.#expect("(");
    const args: string[][] = [[]];
    for (let depth = 0;; this.#at++) {
      const token = this.#tokens[this.#at];
      if (token === undefined) throw new NotConstant("an open parenthesis");
      if (token === ")" && depth === 0) break;
      if (token === "(") depth++;
      if (token === ")") depth--;
      if (token === "," && depth === 0) args.push([]);
      else args.at(-1)!.push(token);
    }
    this.#at++;
    return args.map((words) => words.join(" "));
  }
}

/**
 * The value of a constant expression: numbers with suffixes, parentheses, casts, arithmetic, shifts, comparisons, `?:`,
 * names and macros.
 *
 * @param text The expression.
 * @param names What its names stand for.
 * @throws {NotConstant} It has no value, or is none.
 */
export function evaluate(text: string, names: Names): bigint {
  return new Parser(text, names).whole();
}
