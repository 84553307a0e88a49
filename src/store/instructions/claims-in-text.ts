import { type Mention, mentionsOf } from '../../core/markdown/mentions.ts';
import { folderOf } from '../../git/disk/folder.ts';
import type { Claim } from './claim.ts';
import { variableIn } from './code-names.ts';
import { claimOfVariable, claimsOfCommand, type Programs } from './command-claims.ts';
import { isDoc, isForAgents } from './doc-files.ts';
import { anchors, runtimes } from './name-sources.ts';
import { basesOf, below, pathIn, toPath } from './path-text.ts';

/** Limit of the claims of one file. */
const maxClaims = 20_000;
/** Characters around a claim that say whether it is about the present. */
const surroundings = 300;

/** Words of sentences about the past, the future, or files that a reader or a program creates. */
const notNow =
  /\b(?:removed?|removes|deleted?|deletes|deprecated|obsolete|formerly|previous(?:ly)?|no longer|used to|renamed|moved|replaced|replaces|legacy|creat(?:e|es|ed|ing)|generat(?:e|es|ed|ing)|outputs?|writes?|written|scaffold(?:s|ed)?|will|would|could|todo|planned|not (?:yet|exist)|doesn't exist|does not exist|if (?:it|they|present|any)|optional(?:ly)?|gitignored|git-ignored|ignored|untracked|copy|copies|rename|download(?:s|ed)?|unzip|extract(?:s|ed)?|save[sd]?|your (?:own|project|app|repo|repository|workspace)|a new|new file|old|(?:new|existing|other|each|every|any|target|host|user's|users') (?:project|repositor|repo)\w*)\b|~~|❌|🗑/i;

const language = {
  node: /\bnode(?:\.js|js)?[*`\] ]{0,4}(?:versions? )?(?:>=|≥)? ?v?(\d{1,2})(?:\.[\dx]{1,3}){0,2}(?:\+| (?:or|and) (?:later|newer|higher|above|greater|up))/gi,
  go: /\bgo[*`\] ]{0,4}(?:versions? )?(?:>=|≥)? ?v?(\d\.\d{1,2})(?:\.[\dx]{1,3})?(?:\+| (?:or|and) (?:later|newer|higher|above|greater|up))/gi,
  rust: /\brust[*`\] ]{0,4}(?:versions? )?(?:>=|≥)? ?v?(\d\.\d{1,3})(?:\.[\dx]{1,3})?(?:\+| (?:or|and) (?:later|newer|higher|above|greater|up))/gi,
  python:
    /\bpython[*`\] ]{0,4}(?:versions? )?(?:>=|≥)? ?v?(3\.\d{1,2})(?:\.[\dx]{1,3})?(?:\+| (?:or|and) (?:later|newer|higher|above|greater|up))/gi,
};

/** Finds the claims of a file about the project. */
export function claimsIn(doc: string, text: string, programs: Programs): readonly Claim[] {
  const claims: Claim[] = [];
  for (const mention of mentionsOf(text)) {
    for (const claim of claimsOf(doc, text, mention, programs)) {
      if (claims.length >= maxClaims) return claims;
      claims.push(claim);
    }
  }
  return claims;
}

function* claimsOf(
  doc: string,
  whole: string,
  mention: Mention,
  programs: Programs,
): Generator<Claim> {
  const { kind, text, start } = mention;
  switch (kind) {
    case 'link':
      yield* claimsOfLink(doc, text, start);
      return;
    case 'prose':
      yield* versionsIn(text, start);
      return;
    case 'command':
      yield* claimsOfCommand(doc, text, start, true, programs);
      return;
    case 'code':
      yield* claimsOfCode(doc, whole, text, start, programs);
  }
}

function* claimsOfCode(
  doc: string,
  whole: string,
  text: string,
  start: number,
  programs: Programs,
): Generator<Claim> {
  if (/\s/.test(text)) {
    for (const claim of claimsOfCommand(doc, text, start, false, programs)) {
      const isOfProgram = claim.kind === 'command' || claim.kind === 'option';
      if (!isOfProgram || !notNow.test(lineAround(whole, start))) yield claim;
    }
    return;
  }
  const variable = variableIn(text);
  if (variable !== undefined) {
    if (!notNow.test(lineAround(whole, start))) yield claimOfVariable(text, variable, start);
    return;
  }
  const found = toPath(text);
  if (!found) return;
  // Other documents also name what their readers have: a file at the top, a hidden folder.
  if ((found.isBare || found.path.startsWith('.')) && !isForAgents(doc)) return;
  if (notNow.test(lineAround(whole, start))) return;
  const paths = basesOf(doc).map((base) => below(base, found.path));
  const { isPattern, isBare } = found;
  yield { kind: 'path', text: found.text, start, paths, isPattern, isBare };
}

function* claimsOfLink(doc: string, text: string, start: number): Generator<Claim> {
  if (/^[a-z][a-z0-9+.-]*:|^\/|[{}<>$*?|]|\.\.\.|%7b/i.test(text)) return;
  const hash = text.indexOf('#');
  const target = hash < 0 ? text : text.slice(0, hash);
  const fragment = hash < 0 ? '' : decoded(text.slice(hash + 1));
  const path = target === '' ? doc : pathIn(folderOf(doc), decoded(target));
  if (path === undefined) return;
  if (target !== '') {
    yield { kind: 'link', text: target, start, paths: [path], isPattern: false, isBare: false };
  }
  if (!/^[\p{L}\p{N}_-]{2,200}$/u.test(fragment) || /^L\d+(?:-L?\d+)?$/.test(fragment)) return;
  // The headings of other files, such as a list of changes, come and go.
  if (!isDoc(path)) return;
  const name = fragment.toLowerCase();
  yield { kind: 'anchor', text, start, source: anchors, name, file: path };
}

/** The least versions of languages that prose names. */
function* versionsIn(text: string, start: number): Generator<Claim> {
  if (!/\d(?:\+| (?:or|and) )/.test(text)) return;
  for (const [name, pattern] of Object.entries(language)) {
    const source = runtimes.get(name);
    if (!source) continue;
    for (const { index, 0: whole, 1: version = '' } of text.matchAll(pattern)) {
      if (notNow.test(lineAround(text, index))) continue;
      yield {
        kind: 'runtime',
        text: whole,
        start: start + index,
        source,
        name: `${name} ${version}`,
      };
    }
  }
}

/** The line of an offset, as far as it is near. */
function lineAround(text: string, at: number): string {
  const before = text.slice(Math.max(0, at - surroundings), at);
  const after = text.slice(at, at + surroundings);
  const end = after.indexOf('\n');
  return before.slice(before.lastIndexOf('\n') + 1) + (end < 0 ? after : after.slice(0, end));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
