/**
 * Numbers as text: thousands apart by commas, an ASCII minus (programs that read the output parse no other).
 *
 * @module
 */

/** Digits behind the point in the shortest decimal form of a number. */
export function decimals(value: number): number {
  const [mantissa = "", exponent = "0"] = String(Math.abs(value)).split("e");
  const fraction = mantissa.split(".")[1]?.length ?? 0;
  return Math.max(0, fraction - Number(exponent));
}

/**
 * "1,234.50": a number with its thousands apart.
 *
 * @param value The number.
 * @param digits Digits behind the point.
 */
export function grouped(value: number, digits = 0): string {
  const [whole, fraction] = Math.abs(value).toFixed(digits).split(".");
  const apart = whole!.replace(/\B(?=(\d{3})+$)/g, ",");
  const text = fraction === undefined ? apart : `${apart}.${fraction}`;
  // What rounds to zero has no sign.
  return value < 0 && /[1-9]/.test(text) ? `-${text}` : text;
}

/** A number with so many significant digits, or fewer where they are zeros: "0.012", "1e-7". */
export function significant(value: number, digits: number): string {
  return String(Number(value.toPrecision(digits)));
}

/** "12.3", "1,230": a number rounded to so many significant digits, zeros included, with its thousands apart. */
export function rounded(value: number, digits: number): string {
  if (value === 0) return "0";
  const near = Number(value.toPrecision(digits));
  const exponent = Number(near.toExponential().split("e")[1]);
  return grouped(near, Math.min(Math.max(digits - 1 - exponent, 0), 100));
}

/** "+1,234.5%", "-0.003%": a signed share; an error that rounds to nothing keeps one digit, since it is no equality. */
export function signedPercent(percent: number): string {
  if (percent === 0) return "0%";
  const size = Math.abs(percent);
  const text = size < 0.05 ? rounded(size, 1) : grouped(size, 1);
  return `${percent < 0 ? "-" : "+"}${text}%`;
}
