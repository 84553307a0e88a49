/** Whether the name of a file or folder leads elsewhere on some system, or is not valid UTF-8. */
export function isUnsafe(name: string): boolean {
  const plain = name
    .replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
    .replace(/[ .]+$/, '')
    .toLowerCase();
  const isGit = plain === '.git' || plain === 'git~1' || /^\.git:/.test(plain);
  return plain === '' || isGit || /[\\\0\ufffd]/.test(name);
}
