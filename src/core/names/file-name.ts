/** The longest name of a file or folder, in bytes of UTF-8. */
const maxSegmentBytes = 200;

/** At most this many folders stand above a file. */
const maxFolders = 10;

const device = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

/**
 * Returns why a text cannot be the name of a markdown file below a folder, or undefined.
 *
 * A name is relative, has `/` between folders, ends in `.md`, and means the same file on every system:
 * no way out in any encoding, no `.git` in disguise, no device of Windows, no character that some file
 * system changes or forbids.
 *
 * @returns a sentence without its subject: `must end in ".md"`.
 */
export function fileNameProblem(name: string): string | undefined {
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_C}\u200b\ufeff\\<>:"|?*]/u.test(name)) {
    return 'must not hold control or invisible characters or any of \\ < > : " | ? *';
  }
  if (/%(?:00|25|2e|2f|5c)/i.test(name)) return 'must not hold encoded dots or slashes';
  // Some systems read the compatibility forms of dot and slash as dot and slash.
  if (isPathOut(name.normalize('NFKC'))) {
    return 'must be relative and stay inside the folder';
  }
  if (!name.endsWith('.md')) return 'must end in ".md"';
  if (name !== name.normalize('NFC')) return 'must be in Unicode normal form C';
  const segments = name.split('/');
  if (segments.length > maxFolders + 1) return `must have at most ${maxFolders} folders`;
  for (const segment of segments) {
    if (Buffer.byteLength(segment) > maxSegmentBytes) {
      return `must have at most ${maxSegmentBytes} bytes between two slashes`;
    }
    if (/^ |[. ]$/.test(segment)) {
      return 'must not have a name that begins with a space or ends with a dot or a space';
    }
    if (device.test(segment)) return `must not use "${segment}", which Windows takes for a device`;
    if (isGit(segment)) return 'must not lead into ".git"';
  }
  return undefined;
}

/**
 * The name that a file system may take a name for, which tells neither letter case nor Unicode normal
 * forms apart: two names with the same one cannot both be kept everywhere.
 */
export function foldName(name: string): string {
  // Plain names are most of all names.
  if (/^[\0-\x7f]*$/.test(name)) return name.toLowerCase();
  return name.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}

function isPathOut(name: string): boolean {
  return /(?:^|\/)\.{0,2}(?:\/|$)|\\/.test(name);
}

/**
 * Whether some file system takes a name for `.git`, or for a file that means something to git: it
 * ignores case and invisible characters, and knows short names.
 */
function isGit(segment: string): boolean {
  const seen = segment.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  return /^(?:\.git(?:attributes|ignore|modules)?|git~\d+|gi[0-9a-f]{4}~\d+)[. ]*$/i.test(seen);
}
