/** A number as its bits. */
const bits = new DataView(new ArrayBuffer(8));

/**
 * The natural logarithm of a normal number above 0.
 *
 * It uses only operations that give the same bits on every machine, which `Math.log` does not promise.
 */
export function exactLogarithm(value: number): number {
  bits.setFloat64(0, value);
  const high = bits.getUint32(0);
  let exponent = (high >>> 20) - 1023;
  bits.setUint32(0, (high & 0xf_ffff) | (1023 << 20));
  let mantissa = bits.getFloat64(0);
  if (mantissa > Math.SQRT2) {
    mantissa /= 2;
    exponent += 1;
  }
  const ratio = (mantissa - 1) / (mantissa + 1);
  const square = ratio * ratio;
  let sum = 0;
  for (let power = 25; power >= 1; power -= 2) sum = 1 / power + square * sum;
  return 2 * ratio * sum + exponent * Math.LN2;
}
