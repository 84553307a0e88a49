/** Evidence within markdown: a reference between backticks, and its fingerprint in a comment. */
export const inlinePattern = /`([^`\n]{1,420})` ?<!-- ?([1-9]\d{0,6}-[0-9a-f]{16}) ?-->/g;
