import type { Screen } from './terminal.ts';

/** Paints a markdown or YAML text for a terminal, line by line; every line stays as it is. */
export function highlighted(screen: Screen, path: string, text: string): string {
  let isYaml = /\.ya?ml$/.test(path);
  let fence = '';
  const lines = text.replace(/\n$/, '').split('\n');
  return lines
    .map((line, i) => {
      const plain = line.replace(/\r$/, '');
      // Front matter is YAML between two lines of dashes.
      if (!path.endsWith('.yaml') && plain === '---' && (i === 0 || isYaml)) {
        isYaml = i === 0;
        return screen.paint('faint', plain);
      }
      if (isYaml) return yamlLine(screen, plain);
      const mark = /^ {0,3}(```+|~~~+)/.exec(plain)?.[1] ?? '';
      if (mark !== '' && (fence === '' || mark.startsWith(fence))) {
        fence = fence === '' ? mark : '';
        return screen.paint('faint', plain);
      }
      if (fence !== '') return screen.plain(plain);
      return /^#{1,6} /.test(plain) ? screen.paint('title', plain) : screen.plain(plain);
    })
    .map((line) => `${line}\n`)
    .join('');
}

function yamlLine(screen: Screen, line: string): string {
  const [, indent = '', key = '', rest = ''] = /^(\s*(?:- )*)([\w-]+:)(\s.*|)$/.exec(line) ?? [];
  if (key !== '') return `${screen.plain(indent)}${screen.paint('key', key)}${screen.plain(rest)}`;
  return line.trimStart().startsWith('#') ? screen.paint('faint', line) : screen.plain(line);
}
