/** Saturation: the larger, the longer a repeated word adds to the score. */
const k = 1.6;
/** Penalty for a text longer than the average, 0 to 1. */
const b = 0.75;

/** Score of a word with this frequency in a text of this length: 0 to `k + 1`. */
export function weigh(frequency: number, length: number, average: number): number {
  return (frequency * (k + 1)) / (frequency + k * (1 - b + (b * length) / average));
}

/** Inverse document frequency of a word that `holders` of all documents contain. */
export function rarity(holders: number, documents: number): number {
  return Math.log(1 + (documents - holders + 0.5) / (holders + 0.5));
}
