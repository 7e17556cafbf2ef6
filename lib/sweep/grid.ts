/**
 * What a sweep goes over: axes and their values, or cells one by one.
 *
 * @module
 */

/** A value of an axis or a result: what a column of any format can hold. */
export type SweepValue = string | number | boolean | null;

/** A cell: a value for each axis. */
export type SweepCell = Readonly<Record<string, SweepValue>>;

/** Axes with their values, every combination of which is a cell; or the cells themselves. */
export type SweepOver =
  | Readonly<Record<string, readonly SweepValue[]>>
  | readonly SweepCell[];

/** The cells that a {@linkcode SweepOver} makes. */
export type CellOf<O> = O extends readonly (infer C)[] ? C
  : {
    readonly [K in keyof O]: O[K] extends readonly (infer V)[] ? V : never;
  };

/** A grid: names and cells. */
export interface Grid {
  /** The axes' names, in order. */
  readonly axes: readonly string[];
  /** The cells; the last axis moves fastest. */
  readonly cells: readonly SweepCell[];
}

/** The column that says why a cell failed. */
export const ERROR = "error";

/** More cells than this are a slip of the keyboard. */
const MOST_CELLS = 10_000_000;

/**
 * A value as a column can hold it.
 *
 * @throws {TypeError} It is of another type.
 * @throws {RangeError} It is no finite number.
 */
export function sweepValue(name: string, value: unknown): SweepValue {
  if (value === null) return null;
  switch (typeof value) {
    case "number":
      if (!Number.isFinite(value)) {
        throw new RangeError(`${name} is ${value}: a finite number is allowed`);
      }
      // -0 would be 0 in one format and -0 in another.
      return value === 0 ? 0 : value;
    case "string":
    case "boolean":
      return value;
    default:
      throw new TypeError(
        `${name} is ${
          value === undefined ? "undefined" : `an object or ${typeof value}`
        }: a number, string, boolean or null is allowed`,
      );
  }
}

function checkAxis(name: string): string {
  // JavaScript moves keys that look like numbers to the front, and so would change the columns' order.
  if (name === "" || name === ERROR || /^\d+$/.test(name)) {
    throw new RangeError(
      `over: an axis cannot be called ${
        JSON.stringify(name)
      }: a name that is no number and not "${ERROR}" is allowed`,
    );
  }
  return name;
}

function listed(cells: readonly SweepCell[]): Grid {
  const axes = [
    ...new Set(cells.flatMap((cell, i) => {
      if (typeof cell !== "object" || cell === null) {
        throw new TypeError(
          `over[${i}] is ${String(cell)}: a record is allowed`,
        );
      }
      return Object.keys(cell);
    })),
  ].map(checkAxis);
  return {
    axes,
    cells: cells.map((cell, i) =>
      Object.freeze(Object.fromEntries(axes.map((axis) => [
        axis,
        sweepValue(`over[${i}].${axis}`, cell[axis] ?? null),
      ])))
    ),
  };
}

/**
 * The grid of a sweep.
 *
 * @param over Axes or cells.
 * @throws {TypeError} It is neither, or a value is no number, string, boolean or null.
 * @throws {RangeError} There is no cell, there are too many, or an axis has no possible name.
 */
export function gridOf(over: SweepOver): Grid {
  if (typeof over !== "object" || over === null) {
    throw new TypeError(
      `over is ${
        String(over)
      }: axes with their values, or a list of cells, are allowed`,
    );
  }
  if (Array.isArray(over)) {
    if (over.length === 0) throw new RangeError("over has no cells");
    return listed(over);
  }
  const axes = Object.keys(over).map(checkAxis);
  const lists = over as Readonly<Record<string, readonly SweepValue[]>>;
  let total = axes.length === 0 ? 0 : 1;
  const values = axes.map((axis) => {
    const list = lists[axis]!;
    // Typed arrays are as good a list as any.
    if (!Array.isArray(list) && !ArrayBuffer.isView(list)) {
      throw new TypeError(
        `over.${axis} is ${String(list)}: a list of values is allowed`,
      );
    }
    const checked = Array.from(
      list,
      (value, i) => sweepValue(`over.${axis}[${i}]`, value),
    );
    total *= checked.length;
    return checked;
  });
  if (total === 0 || total > MOST_CELLS) {
    throw new RangeError(
      `over has ${total} cells: 1 to ${MOST_CELLS} are allowed`,
    );
  }
  const cells = Array.from({ length: total }, (_, index) => {
    const cell: Record<string, SweepValue> = {};
    let rest = index;
    let block = total;
    axes.forEach((axis, a) => {
      block /= values[a]!.length;
      cell[axis] = values[a]![Math.floor(rest / block)]!;
      rest %= block;
    });
    return Object.freeze(cell);
  });
  return { axes, cells };
}
