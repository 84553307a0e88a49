import type { Steps } from '../records/slices.ts';
import type { Claim, NameClaim, OpenClaim, PathClaim } from './claim.ts';
import { claimsIn } from './claims-in-text.ts';
import { binaries } from './code-names.ts';
import type { Programs } from './command-claims.ts';
import {
  decodeDoc,
  isDoc,
  isForAgents,
  isForContributors,
  isGenerated,
  maxDocBytes,
} from './doc-files.ts';
import type { DefinedNames, NameSource } from './name-sources.ts';
import { ownPrograms, ProgramWords } from './own-programs.ts';
import { basesOf, PathPattern } from './path-text.ts';
import type { ProjectTree } from './project-tree.ts';

/** Limit of the files that can define a name; in a project with more of them, no missing name is judged. */
const maxSources = 1000;
/** Files that a link can lead to without a program that makes pages. */
const linkedFile = /\.[A-Za-z][A-Za-z0-9]{0,9}$/;

type Outcome = 'true' | 'unknown' | OpenClaim;

/** The claims of the documents of a project, compared with its files as they are. */
export class ClaimJudge {
  readonly #tree: ProjectTree;
  readonly #programs: Programs;
  readonly #names = new Map<string, DefinedNames | undefined>();
  readonly #sources = new Map<NameSource, readonly string[]>();
  readonly #judged = new Map<string, 'true' | 'unknown' | 'open'>();
  readonly #matched = new Map<string, boolean>();
  /** Claims that are not true now. */
  readonly open: OpenClaim[] = [];
  readonly counts = { files: 0, claims: 0, true: 0 };

  constructor(tree: ProjectTree) {
    this.#tree = tree;
    this.#programs = { all: ownPrograms(tree), words: new ProgramWords() };
  }

  *judge(paths: Iterable<string>): Steps {
    const later: (readonly [doc: string, claim: Claim, line: number])[] = [];
    for (const doc of paths) {
      if (!isDoc(doc)) continue;
      yield;
      const bytes = this.#tree.bytes(doc, maxDocBytes);
      const text = bytes && decodeDoc(bytes);
      if (text === undefined || isGenerated(text)) continue;
      this.counts.files += 1;
      let line = 1;
      let counted = 0;
      const claims = [...claimsIn(doc, text, this.#programs)].sort((a, b) => a.start - b.start);
      for (const claim of claims) {
        yield;
        for (; counted < claim.start; counted++) if (text[counted] === '\n') line += 1;
        // The code is read for all words of commands at once.
        if ('source' in claim && claim.source === this.#programs.words)
          later.push([doc, claim, line]);
        else this.#count(this.#judge(doc, claim, line));
      }
    }
    for (const one of later) {
      yield;
      this.#count(this.#judge(...one));
    }
  }

  #count(outcome: Outcome): void {
    this.counts.claims += 1;
    if (outcome === 'true') this.counts.true += 1;
    else if (outcome !== 'unknown') this.open.push(outcome);
  }

  #judge(doc: string, claim: Claim, line: number): Outcome {
    return 'paths' in claim ? this.#judgePath(doc, claim, line) : this.#judgeName(doc, claim, line);
  }

  #judgePath(doc: string, claim: PathClaim, line: number): Outcome {
    const tree = this.#tree;
    const { paths, isPattern, isBare } = claim;
    if (isPattern) {
      if (paths.some((path) => this.#isMatched(path))) return 'true';
      return { doc, claim, line, file: undefined, elsewhere: [] };
    }
    if (paths.some((path) => tree.has(path))) return 'true';
    const shortest = paths.at(-1) ?? '';
    if (isBare && tree.hasNamed(shortest)) return 'true';
    // Some programs that make pages find the target of a link by its name alone.
    const isPage = claim.kind === 'link' && !isForContributors(doc);
    const name = isPage ? shortest.slice(shortest.lastIndexOf('/') + 1) : shortest;
    const elsewhere = claim.kind !== 'link' || isPage ? tree.endingIn(name) : [];
    if (isPage && elsewhere.length > 0) return 'unknown';
    return { doc, claim, line, file: undefined, elsewhere };
  }

  /** Whether a committed file matches a pattern. */
  #isMatched(path: string): boolean {
    const known = this.#matched.get(path);
    if (known !== undefined) return known;
    const pattern = new PathPattern(path);
    const found = [...this.#tree.files.keys()].some((file) => pattern.matches(file));
    this.#matched.set(path, found);
    return found;
  }

  #judgeName(doc: string, claim: NameClaim, line: number): Outcome {
    const files = this.#filesOf(doc, claim);
    if (files === undefined || this.#hasFileOf(claim)) return 'unknown';
    const key = `${files[0]} ${claim.source.name} ${claim.name} ${claim.isShort === true}`;
    const known = this.#judged.get(key) ?? this.#judgeIn(files, claim);
    this.#judged.set(key, known);
    return known === 'open'
      ? { doc, claim, line, file: claim.file ?? ownFile(claim, files), elsewhere: [] }
      : known;
  }

  /** Whether a file has the name of a binary, a command or an option, which may be in it. */
  #hasFileOf({ source, name }: NameClaim): boolean {
    if (source !== binaries && source !== this.#programs.words) return false;
    const stem = name.replace(/^--/, '');
    return [stem, stem.replaceAll('-', '_')].some((one) => this.#tree.hasStem(one));
  }

  #judgeIn(files: readonly string[], claim: NameClaim): 'true' | 'unknown' | 'open' {
    const { source, name, kind } = claim;
    let isUnknown = false;
    for (const file of files) {
      const defined = this.#read(source, file);
      if (defined?.names.has(name)) return 'true';
      const asks = kind === 'script' ? claim.isShort === true : true;
      isUnknown ||= asks && defined?.mayHave(name) === true;
      // A manifest that asks for less than a document does not mislead its readers.
      isUnknown ||=
        kind === 'runtime' && ![...(defined?.names.keys() ?? [])].some((now) => isNewer(now, name));
    }
    return isUnknown ? 'unknown' : 'open';
  }

  /** The files that can define names, and the kind of each; those of one document are left out. */
  *manifests(): Generator<readonly [path: string, source: NameSource]> {
    for (const [source, paths] of this.#sources) for (const path of paths) yield [path, source];
  }

  /** The present files that can define the name of a claim; undefined if there is none, or too many. */
  #filesOf(doc: string, { source, file }: NameClaim): readonly string[] | undefined {
    const { files } = this.#tree;
    if (file !== undefined) return files.has(file) ? [file] : undefined;
    if (source.files === undefined) {
      for (const base of basesOf(doc)) {
        const path = source.usual
          .map((one) => (base ? `${base}/${one}` : one))
          .find((one) => files.has(one));
        if (path !== undefined && (this.#read(source, path)?.names.size ?? 0) > 0) return [path];
      }
      return undefined;
    }
    const known = this.#sources.get(source) ?? this.#find(source.files);
    this.#sources.set(source, known);
    return known.length > (source.maxFiles ?? maxSources) ? undefined : known;
  }

  #find(name: RegExp): readonly string[] {
    const found = [...this.#tree.files.keys()].filter((path) =>
      name.test(path.slice(path.lastIndexOf('/') + 1)),
    );
    // The files at the top are asked first.
    return found.sort((a, b) => a.length - b.length);
  }

  #read(source: NameSource, path: string): DefinedNames | undefined {
    const key = `${source.name} ${path}`;
    if (!this.#names.has(key)) {
      const bytes = this.#tree.bytes(path, maxDocBytes);
      const text = bytes && decodeDoc(bytes);
      this.#names.set(key, text === undefined ? undefined : source.read(text));
    }
    return this.#names.get(key);
  }

  /** Whether the last commit has what a claim names, and the work tree does not. */
  isUncommitted({ claim, file }: OpenClaim): boolean {
    const tree = this.#tree;
    if ('paths' in claim) {
      return !claim.isPattern && claim.paths.some((path) => tree.isCommitted(path));
    }
    const { source, name } = claim;
    const files = file === undefined ? (this.#sources.get(source) ?? []) : [file];
    return files.some((path) => {
      if (!tree.isEdited(path)) return false;
      // A manifest that cannot be read proves nothing.
      if (tree.has(path) && !this.#read(source, path)) return false;
      const bytes = tree.committed(path, maxDocBytes);
      const text = bytes && decodeDoc(bytes);
      return text !== undefined && source.read(text)?.names.has(name) === true;
    });
  }

  /** Whether a link certainly leads nowhere, whatever the history says. */
  isDeadLink({ doc, claim }: OpenClaim): boolean {
    if (claim.kind !== 'link' || !('paths' in claim)) return false;
    const [path = ''] = claim.paths;
    // Agents also read links as paths from the top; programs that make pages have rules of their own.
    if (isForAgents(doc) || !isForContributors(doc) || this.#tree.has(claim.text)) return false;
    return linkedFile.test(claim.text) && !this.#tree.isUnknown(path);
  }
}

/** The one file that can define the name of a claim; undefined if any of a kind can. */
function ownFile({ source }: NameClaim, files: readonly string[]): string | undefined {
  return source.files === undefined ? files[0] : undefined;
}

/** Whether a version such as `node 20` is newer than another one of the same language. */
function isNewer(version: string, other: string): boolean {
  const parts = (text: string) => (text.split(' ')[1] ?? '').split('.').map(Number);
  const [now, old] = [parts(version), parts(other)];
  for (const [i, part] of now.entries()) if (part !== (old[i] ?? 0)) return part > (old[i] ?? 0);
  return false;
}
