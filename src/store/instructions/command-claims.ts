import type { Claim } from './claim.ts';
import { binaries, crates, variableIn, variables } from './code-names.ts';
import { justRecipes, makeTargets, type NameSource, scripts } from './name-sources.ts';
import { isUsual, type OwnPrograms, type ProgramWords } from './own-programs.ts';
import { basesOf, below, toPath } from './path-text.ts';

const packageManagers: ReadonlySet<string> = new Set(['npm', 'pnpm', 'yarn', 'bun']);
/** Commands of package managers that are not scripts; `yarn x` and `pnpm x` can also run one. */
const managerCommands: ReadonlySet<string> = new Set(
  'access add approve-builds audit bin cache catalog ci completion config constraints create dedupe deploy dlx doctor env exec explain explore fetch fund generate-lock-entry global help i import info init install install-test link list ll login logout ls node npm nx outdated owner pack patch patch-commit pkg plugin policies prune publish rb rebuild remove repo rm root run search self-update server set setup store team test-it unlink unpublish up update upgrade upgrade-interactive version versions view whoami why workspace workspaces x'.split(
    ' ',
  ),
);
/** Programs whose first argument is a file that they run. */
const runners: ReadonlySet<string> = new Set(
  'node python python2 python3 bash sh zsh deno ruby perl php tsx ts-node source .'.split(' '),
);
/** Programs whose arguments are files that they create, or are not files of the project. */
const creators: ReadonlySet<string> = new Set(
  'mkdir touch mv cp ln rm curl wget git npx docker podman kubectl ssh scp rsync tar unzip zip echo printf export brew apt apt-get sudo pip pip3 pipx uv uvx gh helm terraform aws gcloud az cd pushd tee cargo-generate degit claude codex'.split(
    ' ',
  ),
);
const name = /^[\w.:@/-]{1,100}$/;
/** Programs that run one of a package, and what can be between the two. */
const callers = /^(?:npx|bunx|uvx|uv)$/;
const callersOption = /^(?:-y|--yes|run)$/;

/** A program of the project; other paths are what a command prints. */
const ownProgram =
  /^(?:\.\/[\w./-]+|(?:[\w.-]+\/)+[\w.-]+\.(?:sh|bash|py|rb|pl|[cm]?[jt]s)|(?:[\w.-]+\/)*(?:bin|scripts?|tools|hack)\/[\w.-]+)$/;

/** A word of a command and its offset. */
interface Word {
  readonly text: string;
  readonly start: number;
}

/** The programs of the project, and the words of their commands that claims name. */
export interface Programs {
  readonly all: OwnPrograms;
  readonly words: ProgramWords;
}

/**
 * Finds the claims of a line of shell code.
 *
 * @param isLine whether it is a line of a block of shell code; otherwise it can be any code.
 */
export function* claimsOfCommand(
  doc: string,
  line: string,
  offset: number,
  isLine: boolean,
  programs: Programs,
): Generator<Claim> {
  for (const words of commandsIn(line)) {
    const settings = words.filter(({ text }) => /^[A-Z][A-Z0-9_]*=\S*$/.test(text));
    for (const { text, start } of settings) {
      const variable = variableIn(text);
      if (variable !== undefined) yield claimOfVariable(text, variable, offset + start);
    }
    const rest = words.slice(settings.length);
    const [program] = rest;
    if (!program || program.text === 'export') continue;
    yield* claimsOfProgram(rest, offset, programs);
    const claim = (
      source: NameSource,
      kind: 'script' | 'target' | 'crate',
      word: Word,
      isShort = false,
    ) => ({
      kind,
      text: line.slice(program.start, word.start + word.text.length),
      start: offset + program.start,
      source,
      name: word.text,
      isShort,
    });
    if (packageManagers.has(program.text)) {
      const script = scriptOf(rest);
      if (script) yield claim(scripts, 'script', script, !script.isRun);
    } else if (program.text === 'make' || program.text === 'just') {
      const source = program.text === 'make' ? makeTargets : justRecipes;
      for (const word of targetsOf(rest)) yield claim(source, 'target', word);
    } else if (program.text === 'cargo') {
      const [crate, binary] = [/^(?:-p|--package)$/, /^--bin$/].map((option) => {
        const at = rest.findIndex(({ text }) => option.test(text));
        const word = at < 0 ? undefined : rest[at + 1];
        return word && /^[a-z][\w-]*$/.test(word.text) ? word : undefined;
      });
      if (crate) yield claim(crates, 'crate', crate);
      if (binary) yield claim(binaries, 'crate', binary);
    } else {
      for (const word of filesOf(rest, isLine)) {
        const found = toPath(word.text);
        if (!found || found.isBare || found.isPattern) continue;
        const paths = basesOf(doc).map((base) => below(base, found.path));
        const { text } = found;
        yield {
          kind: 'path',
          text,
          start: offset + word.start,
          paths,
          isPattern: false,
          isBare: false,
        };
      }
    }
  }
}

/** Finds the command and the options of a program of the project. */
function* claimsOfProgram(
  words: readonly Word[],
  offset: number,
  { all, words: source }: Programs,
): Generator<Claim> {
  const at = words.findIndex(({ text }, i) => !(i === 0 ? callers : callersOption).test(text));
  const [program, ...rest] = words.slice(Math.max(0, at));
  const folders = program && all.get(program.text.replace(/^(?:\.\/)?(?:[\w.-]+\/)*/, ''));
  if (!program || !folders) return;
  for (const [i, word] of rest.entries()) {
    if (word.text === '--') return;
    const [, option] = /^(--[a-z][a-z0-9]{2,}(?:-[a-z0-9]+)*)(?:=.*)?$/.exec(word.text) ?? [];
    const [command] = i === 0 ? (/^[a-z][a-z0-9]{2,}(?:-[a-z0-9]+)*$/.exec(word.text) ?? []) : [];
    const name = option ?? command;
    if (name === undefined || isUsual(name) || !source.want(name)) continue;
    const kind = option === undefined ? 'command' : 'option';
    yield { kind, text: name, start: offset + word.start, source, name, folders };
  }
}

/** @param text with the name of the variable. */
export function claimOfVariable(text: string, name: string, start: number): Claim {
  const at = start + text.indexOf(name);
  return { kind: 'variable', text: name, start: at, source: variables, name };
}

/** The words of each command of a line. A command with quotes or redirections ends before them. */
function* commandsIn(line: string): Generator<readonly Word[]> {
  let words: Word[] = [];
  let isOver = false;
  for (const { index, 0: text } of line.matchAll(/\S+/g)) {
    if (/^(?:&&|\|\||[;|&])$/.test(text)) {
      yield words;
      words = [];
      isOver = false;
    } else if (/[<>"'`$(){}\\…]|\.\.\.$/.test(text)) isOver = true;
    else if (!isOver) {
      const ends = text.endsWith(';');
      words.push({ text: ends ? text.slice(0, -1) : text, start: index });
      if (!ends) continue;
      yield words;
      words = [];
    }
  }
  yield words;
}

/** The script that a command of a package manager runs. */
function scriptOf(words: readonly Word[]): (Word & { readonly isRun: boolean }) | undefined {
  const [manager, ...rest] = words;
  const run = rest.findIndex(({ text }) => /^(?:run|run-script)$/.test(text));
  if (run >= 0 && run <= 3) {
    const script = rest.slice(run + 1).find(({ text }) => !text.startsWith('-'));
    return script && name.test(script.text) ? { ...script, isRun: true } : undefined;
  }
  const [first] = rest;
  if (!first || !/^[a-z][\w:-]*$/.test(first.text)) return undefined;
  if (manager?.text === 'npm' || manager?.text === 'bun') {
    const isScript = manager.text === 'npm' && /^(?:test|start|stop)$/.test(first.text);
    return isScript ? { ...first, isRun: true } : undefined;
  }
  return managerCommands.has(first.text) ? undefined : { ...first, isRun: false };
}

/** The targets that `make` or `just` is called with. */
function targetsOf(words: readonly Word[]): readonly Word[] {
  const rest = words.slice(1);
  if (rest.some(({ text }) => /^(?:-f|-C|--file|--justfile|--directory|-d|-I)/.test(text)))
    return [];
  const targets: Word[] = [];
  for (const word of rest) {
    if (/^-j?\d*$|^--?\w|^\d+$/.test(word.text)) continue;
    if (!/^[A-Za-z_][\w.-]*$/.test(word.text)) break;
    targets.push(word);
    // The words after a recipe of just are its arguments.
    if (words[0]?.text === 'just') break;
  }
  return targets;
}

/** The files that a command runs or reads. */
function filesOf([program, ...rest]: readonly Word[], isLine: boolean): readonly Word[] {
  if (!program) return [];
  if (program.text.includes('/')) return ownProgram.test(program.text) ? [program] : [];
  if (runners.has(program.text)) {
    const [first] = rest;
    return first && !first.text.startsWith('-') ? [first] : [];
  }
  if (program.text === 'go') return rest.slice(1).filter(({ text }) => /^\.\/[\w/-]+$/.test(text));
  if (!isLine || creators.has(program.text) || !/^[a-z][\w-]*$/.test(program.text)) return [];
  return rest.filter(({ text }, i) => {
    return /^[\w.][\w./-]*$/.test(text) && !/^-(?:o|-out\S*)$/.test(rest[i - 1]?.text ?? '');
  });
}
