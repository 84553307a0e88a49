/** A setting of a configuration, with its section and name in lower case. */
export interface Setting {
  readonly key: string;
  readonly value: string;
}

/** Parses a boolean as git does. */
export function isTrue(value: string): boolean {
  return /^(?:true|yes|on|[1-9].*)$/is.test(value);
}

/** Parses the settings of a configuration text, in order; lines that git would reject are skipped. */
export function parseConfig(text: string): Setting[] {
  const settings: Setting[] = [];
  let section = '';
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  for (let i = 0; i < lines.length; i++) {
    let line = (lines[i] ?? '').trimStart();
    const header = /^\[\s*([A-Za-z0-9.-]+)\s*(?:"((?:[^"\\]|\\.)*)"\s*)?\]/.exec(line);
    if (header) {
      const [whole, name = '', subsection] = header;
      const below = subsection?.replace(/\\(.)/g, '$1');
      section = below === undefined ? name.toLowerCase() : `${name.toLowerCase()}.${below}`;
      line = line.slice(whole.length).trimStart();
    }
    const setting = /^([A-Za-z][A-Za-z0-9-]*)\s*(=?)\s*/.exec(line);
    if (!setting || section === '') continue;
    const [whole, name = '', equals] = setting;
    const pieces = [line.slice(whole.length)];
    while (endsInBackslash(pieces.at(-1) ?? '') && i + 1 < lines.length) {
      pieces.push(pieces.pop()?.slice(0, -1) ?? '', lines[++i] ?? '');
    }
    const value = equals === '=' ? unquote(pieces.join('')) : 'true';
    settings.push({ key: `${section}.${name.toLowerCase()}`, value });
  }
  return settings;
}

/** Whether a line continues in the next one. */
export function endsInBackslash(text: string): boolean {
  let at = text.length;
  while (text[at - 1] === '\\') at -= 1;
  return (text.length - at) % 2 === 1;
}

/** Removes quotes, escapes, comments and surrounding space from a value. */
function unquote(raw: string): string {
  let value = '';
  let solid = 0;
  let quoted = false;
  for (let i = 0; i < raw.length; i++) {
    const c = raw[i] ?? '';
    if (c === '"') quoted = !quoted;
    else if (c === '\\') value += escapes[raw[++i] ?? ''] ?? raw[i] ?? '';
    else if (!quoted && (c === '#' || c === ';')) break;
    else value += c;
    if (quoted || !/\s/.test(c)) solid = value.length;
  }
  return value.slice(0, solid);
}

const escapes: { readonly [letter: string]: string } = { n: '\n', t: '\t', b: '\b' };
