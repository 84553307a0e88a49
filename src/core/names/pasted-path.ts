/** A path below `.memory-bank/`, without the `./` and `.memory-bank/` that people paste with it. */
export function pastedPath(path: string): string {
  return path.replace(/^\.\//, '').replace('.memory-bank/', '');
}
