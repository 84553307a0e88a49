/** Size limit of a file whose claims are checked, in bytes. */
export const maxDocBytes = 8 * 1024 * 1024;
/** Characters in which a generated file says that it is one. */
const noteLength = 1000;

const markdown = /\.(?:md|mdc|markdown)$/i;
/** Files for agents that are markdown by another name. */
const rulesFile = /(?:^|\/)(?:\.cursorrules|\.clinerules(?:-[\w-]+)?|\.windsurfrules)$/;
const agentFile =
  /(?:^|\/)(?:(?:CLAUDE|AGENTS?|GEMINI)(?:\.local)?\.md|\.cursorrules|\.windsurfrules|\.github\/copilot-instructions\.md|\.github\/instructions\/[^/]+|\.clinerules[^/]*(?:\/[^/]+)?|\.cursor\/rules\/.+|\.kiro\/steering\/.+|\.claude\/.+)$/i;
const readme = /(?:^|\/)(?:README|CONTRIBUTING|DEVELOPMENT|DEVELOPING|HACKING)[^/]*$/i;
/** Files that report what was true at a time, or what is planned. */
const chronicle =
  /^(?:change-?s|change-?logs?|history|news|releases?|release-?notes.*|migrat.*|upgrad.*|todos?|roadmap.*|plans?|.*[-_](?:plan|proposal|rfc|report|summary|changelog|migration|postmortem|retro(?:spective)?|audit|status|review|spike|testing-review|analysis|findings|notes)|\d{2,4}[-_].*|.*\d{4}-\d{2}-\d{2}.*|adr[-_ ]?\d.*|rfc[-_ ]?\d.*|(?:pr|issue|ticket)[-_ ]?\d.*|breaking[-_ ]?changes.*)$/i;
const chronicleFolder =
  /^(?:adrs?|decisions?|rfcs?|proposals?|blog|_?posts|news|archived?|archives|_archive|change-?logs?|\.changesets?|plans?|specs?|history|historical|release-?notes|releases|migrations?|upgrad(?:e|ing)|postmortems?|retros?|journals?|logs?|devlog|sessions?|reports?|audits?|tickets?|tasks|backlog|design-?docs?|versioned_docs|legacy|deprecated|\.taskmaster|.*[-_]notes|notes|research|investigations?|staged-for-removal|trash|attic|meetings)$/i;
/** Folders of data, or of files for other projects. */
const foreignFolder =
  /^(?:node_modules|vendor|vendored|third[-_]?party|external|externals|deps|fixtures?|__fixtures__|test-?data|snapshots?|__snapshots__|templates?|scaffolds?|scaffolding|skeletons?|boilerplates?|cookiecutter.*|\{\{.*|\.memory-bank|memory-bank|corpus)$/i;
/** Folders of files that are no longer in use. */
const retired =
  /(?:^|[/_.-])(?:archived?|archives|legacy|deprecated|obsolete|attic|trash|old|removed|backups?)(?:[_.-][^/]*)?\//i;
const generated =
  /auto-?generated|@generated|\bgenerated (?:by|from|with|automatically)\b|do not (?:edit|modify)|don't edit/i;

/** Whether a file of the project has claims that can be checked. */
export function isDoc(path: string): boolean {
  if (!markdown.test(path) && !rulesFile.test(path) && !/\.clinerules\/[^/]+$/.test(path)) {
    return false;
  }
  const parts = path.split('/');
  const name = parts.pop() ?? '';
  if (parts.some((part) => foreignFolder.test(part))) return false;
  if (agentFile.test(path)) return !isRetired(path);
  if (parts.some((part) => chronicleFolder.test(part))) return false;
  return !chronicle.test(name.replace(/\.\w+$/, ''));
}

/** Whether a file is written for people and agents that work in the repository itself. */
export function isForContributors(path: string): boolean {
  return agentFile.test(path) || readme.test(path);
}

/** Whether a file is written for agents. */
export function isForAgents(path: string): boolean {
  return agentFile.test(path);
}

/** Whether a path is in a folder of files that are no longer in use. */
export function isRetired(path: string): boolean {
  return retired.test(path);
}

/** Whether a program has written a text. */
export function isGenerated(text: string): boolean {
  return generated.test(text.slice(0, noteLength));
}

/** The text of a file in UTF-8 or UTF-16; undefined for a binary one. */
export function decodeDoc(bytes: Buffer): string | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return bytes.toString('utf16le');
  if (first === 0xfe && second === 0xff) {
    return Buffer.from(bytes.subarray(0, bytes.length & ~1))
      .swap16()
      .toString('utf16le');
  }
  return bytes.includes(0) ? undefined : bytes.toString('utf8');
}
