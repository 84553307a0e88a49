/** Scales a vector to length 1; returns false, and does nothing, if it has no direction. */
export function toUnit(vector: Float32Array | Float64Array): boolean {
  let square = 0;
  for (const value of vector) square += value * value;
  const length = Math.sqrt(square);
  if (!(length > 1e-9) || !Number.isFinite(length)) return false;
  for (let at = 0; at < vector.length; at++) vector[at] = (vector[at] as number) / length;
  return true;
}
