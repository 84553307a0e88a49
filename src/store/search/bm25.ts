/** How soon a repeated word counts no more. */
const k = 1.6;
/** How much a text longer than the average is held against it, 0 to 1. */
const b = 0.75;

/** How much it says about a text of this length that a word stands in it this often: 0 to `k + 1`. */
export function weigh(frequency: number, length: number, average: number): number {
  return (frequency * (k + 1)) / (frequency + k * (1 - b + (b * length) / average));
}

/** How much it says about a document that a word stands in it, if it stands in so many of so many. */
export function rarity(holders: number, documents: number): number {
  return Math.log(1 + (documents - holders + 0.5) / (holders + 0.5));
}
