/** Evidence within markdown: a reference between backticks, and its fingerprint in a comment. */
export const inlinePattern = /`([^`\n]{1,420})` ?<!-- ?([1-9]\d{0,6}-[0-9a-f]{16}) ?-->/g;

/** Evidence in a list: a reference, and its fingerprint if it has one. */
export const listedPattern = /^(.*?)(?: ([1-9]\d{0,6}-[0-9a-f]{16}))?$/;

/** Returns evidence as it is stored in a list, without its fingerprint. */
export function placeOf(evidence: string): string {
  return listedPattern.exec(evidence)?.[1] || evidence;
}

/** Returns a markdown text without the fingerprints of its evidence, which say nothing to a person. */
export function withoutFingerprints(text: string): string {
  return text.replace(inlinePattern, (_, place: string) => `\`${place}\``);
}
