/** Maximum length of the name of a file or folder, in bytes of UTF-8. */
export const maxSegmentBytes = 200;

/** Maximum number of folders above a file. */
export const maxFolders = 10;

const device = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

/**
 * Returns why a text cannot be the name of a markdown file below a folder, or undefined.
 *
 * A name is relative, has `/` between folders, ends in `.md`, and means the same file on every system.
 * It does not leave the folder in any encoding, is not a form of `.git` or a device name of Windows, and
 * contains no character that some file system changes or forbids.
 *
 * @returns a sentence without its subject: `must end in ".md"`.
 */
export function fileNameProblem(name: string): string | undefined {
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_C}\u200b\ufeff\\<>:"|?*]/u.test(name)) {
    return 'must not contain control or invisible characters or any of \\ < > : " | ? *';
  }
  if (/%(?:00|25|2e|2f|5c)/i.test(name)) return 'must not contain encoded dots or slashes';
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
    if (device.test(segment)) return `must not use "${segment}", a device name on Windows`;
    if (isGit(segment)) return 'must not lead into ".git"';
  }
  return undefined;
}

/**
 * Returns a name without the differences that some file systems ignore.
 *
 * These are letter case and Unicode normal forms. Two names with an equal result cannot exist next to
 * each other on every file system.
 */
export function foldName(name: string): string {
  // Fast path: most names are ASCII.
  if (/^[\0-\x7f]*$/.test(name)) return name.toLowerCase();
  return name.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}

function isPathOut(name: string): boolean {
  return /(?:^|\/)\.{0,2}(?:\/|$)|\\/.test(name);
}

/**
 * Whether a name means `.git` or another file of git on some file system.
 *
 * Some file systems ignore case and invisible characters, or have short names such as `GIT~1`.
 */
function isGit(segment: string): boolean {
  const seen = segment.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  return /^(?:\.git(?:attributes|ignore|modules)?|git~\d+|gi[0-9a-f]{4}~\d+)[. ]*$/i.test(seen);
}
