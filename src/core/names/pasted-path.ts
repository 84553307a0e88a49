/** Removes `./` and `.memory-bank/` from the beginning of a path that a person has pasted. */
export function pastedPath(path: string): string {
  return path.replace(/^\.\//, '').replace('.memory-bank/', '');
}
