import { addTo } from '../../core/values/multimap.ts';
import { folderOf } from '../../git/disk/folder.ts';
import { cargoBinaries, cargoPackage, variables } from './code-names.ts';
import { decodeDoc, maxDocBytes } from './doc-files.ts';
import type { DefinedNames, NameSource } from './name-sources.ts';
import type { ProjectTree } from './project-tree.ts';

/** The value of a command or option that a text has for sure. */
const certain = 'certain';
/** Limit of the commands and options that are looked for. */
const maxWords = 300;
/** Limit of the manifests that are read. */
const maxManifests = 1000;
/** Names that programs of others have as well, and words that stand for a program. */
const ambiguous =
  /^(?:app|api|bash|build|bun|cargo|claude|cli|client|code|codex|demo|deno|dev|docker|docs|example|gh|git|go|hello|just|main|make|node|npm|npx|pip|pnpm|pytest|python3?|run|ruff|server|sh|start|test|tests|tool|tsc|uv|uvx|web|worker|yarn)$/;
/** Files that are not the sources of a program, such as tests and examples. */
const aside =
  /(?:^|\/)(?:tests?|__tests__|specs?|e2e|examples?|samples?|fixtures?|testdata|mocks?|docs?|bench(?:es|marks?)?|scripts?|website|vendor|node_modules|\.[^/]+)\/|(?:^|[._/-])(?:tests?|specs?|conftest)[._]/i;
const code =
  /\.(?:[cm]?[jt]sx?|py|rs|go|rb|php|java|kts?|scala|cs|fs|swift|dart|c|cc|cpp|zig|nim|exs?|lua|pl|sh|bash)$/;
/** Options that libraries give to programs. */
const usual =
  /^--(?:help|version|verbose|quiet|silent|debug|no-colou?r|colou?r|log-level|config|output|format|json|yes|force)$/;

/** Folders of the programs that the project defines, by their names. */
export type OwnPrograms = ReadonlyMap<string, readonly string[]>;

/** Finds the programs that the manifests of a project define. */
export function ownPrograms(tree: ProjectTree): OwnPrograms {
  const found = new Map<string, string[]>();
  const manifests = [...tree.files.keys()].filter(
    (path) =>
      !aside.test(path) &&
      /(?:^|\/)(?:package\.json|Cargo\.toml|pyproject\.toml|main\.go)$/.test(path),
  );
  for (const path of manifests.slice(0, maxManifests)) {
    const folder = folderOf(path);
    for (const name of programsIn(path, folder, tree)) {
      if (!/^[a-z][\w-]{1,60}$/.test(name) || ambiguous.test(name)) continue;
      addTo(found, name, path.endsWith('.go') ? moduleOf(folder, tree) : folder);
    }
  }
  return found;
}

function programsIn(path: string, folder: string, tree: ProjectTree): readonly string[] {
  // A folder below cmd/ has the name of its program.
  if (path.endsWith('main.go')) return /(?:^|\/)cmd\/([^/]+)$/.exec(folder)?.slice(1) ?? [];
  const bytes = tree.bytes(path, maxDocBytes);
  const text = (bytes && decodeDoc(bytes)) ?? '';
  if (path.endsWith('package.json')) return programsOfPackage(text);
  if (path.endsWith('Cargo.toml')) {
    const own = cargoPackage(text);
    const isProgram = own !== undefined && tree.files.has(`${folder && `${folder}/`}src/main.rs`);
    return [...cargoBinaries(text), ...(isProgram ? [own] : [])];
  }
  const scripts =
    /^\[(?:project|tool\.poetry)\.scripts\][ \t]*\r?\n((?:(?!\[).*\r?\n?)*)/m.exec(text)?.[1] ?? '';
  return [...scripts.matchAll(/^["']?([\w-]+)["']?[ \t]*=/gm)].map(([, name = '']) => name);
}

function programsOfPackage(text: string): readonly string[] {
  try {
    const { bin, name }: { bin?: unknown; name?: unknown } =
      JSON.parse(text.replace(/^\uFEFF/, '')) ?? {};
    if (typeof bin === 'string' && typeof name === 'string') return [name.replace(/^@[^/]*\//, '')];
    return typeof bin === 'object' && bin !== null ? Object.keys(bin) : [];
  } catch {
    return [];
  }
}

/** The folder of the module of Go that a folder is in. */
function moduleOf(folder: string, tree: ProjectTree): string {
  let at = folder;
  while (at !== '' && !tree.files.has(`${at}/go.mod`)) at = folderOf(at);
  return at;
}

/** Whether a file is one of the sources of a program in a folder, other than its tests and examples. */
export function isSourceOf(path: string, folders: readonly string[]): boolean {
  if (!code.test(path) || aside.test(path)) return false;
  return folders.some((folder) => folder === '' || path.startsWith(`${folder}/`));
}

/** Whether an option is one that a library may give to a program. */
export function isUsual(option: string): boolean {
  return usual.test(option);
}

/**
 * The commands and options that the code of a project has: `--dry-run` or `dryRun`, and `deploy` in quotes.
 * A single word may be there in any form; a command also as a part of one, such as `deployCommand`.
 */
export class ProgramWords implements NameSource {
  readonly name = 'command or option';
  readonly files = variables.files;
  readonly usual = [];
  readonly maxFiles = variables.maxFiles ?? 0;
  readonly isAnywhere = true;
  readonly proof = certain;
  /** The sources of each name, as `sourceOf` writes them. */
  readonly #wanted = new Map<string, RegExp>();

  /** Adds a command or an option, before the first text is read; returns false if there are too many. */
  want(name: string): boolean {
    if (this.#wanted.size < maxWords) this.#wanted.set(name, sourceOf(name));
    return this.#wanted.has(name);
  }

  formsOf(name: string): string {
    return sourceOf(name).source;
  }

  read(text: string): DefinedNames {
    const flat = text.replace(/[-_ ]/g, '').toLowerCase();
    const forms = new Set<string>();
    for (const [name, source] of this.#wanted) {
      if (flat.includes(anyForm(name)) && source.test(text)) forms.add(name);
    }
    const names = new Map<string, string>();
    for (const name of forms) {
      if (isLiteral(text, name) || severalWords.test(name)) names.set(name, certain);
    }
    return { names, mayHave: (name) => forms.has(name) };
  }
}

/** A name in the form in which all its forms are the same: `dry-run`, `dry_run`, `dryRun`, `DRY RUN`. */
function anyForm(name: string): string {
  // The option may be there without its negation.
  return name.replace(/^--(?:no-)?/, '').replaceAll('-', '');
}

/** An option of several words: code that has them as one, such as the name of a field, has the option. */
const severalWords = /^--(?:no-)?[a-z0-9]+-/;

/**
 * Finds the source of a command or an option in code: of an option, a word such as the name of a field; of
 * a command, also a part of one.
 */
function sourceOf(name: string): RegExp {
  const [parts, isOption] = [name.replace(/^--(?:no-)?/, '').split('-'), name.startsWith('--')];
  if (!isOption) return new RegExp(parts.join('[-_ ]?'), 'i');
  return new RegExp(
    `(?<![A-Za-z0-9_]|[A-Za-z0-9]-)(?:no[-_]?)?${parts.join('[-_]?')}(?![A-Za-z0-9_]|-[A-Za-z0-9])`,
    'i',
  );
}

/** Whether a text has an option with its dashes, or a name in quotes. */
function isLiteral(text: string, name: string): boolean {
  const core = name.replace(/^--/, '');
  for (let at = text.indexOf(core); at >= 0; at = text.indexOf(core, at + 1)) {
    const before = text.slice(Math.max(0, at - 2), at);
    const after = text.charAt(at + core.length);
    if (name !== core && before === '--' && !/[\w-]/.test(after)) return true;
    if (/["'`]$/.test(before) && /^["'` ]$/.test(after)) return true;
  }
  return false;
}
