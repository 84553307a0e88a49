import {
  type ExchangeFormat,
  Gathering,
  type ImportedRecord,
  type Reading,
  type Source,
} from '../../core/declarations/exchange-format.ts';
import { fileNameProblem, foldName } from '../../core/names/file-name.ts';
import { encodeName } from '../../core/names/name.ts';
import { coreFiles, isTemplate } from './core-file.ts';
import { newerName, olderName } from './lookup.ts';
import { memoryFile, nameProblem } from './memory-file.ts';
import { ruleFile } from './rule-record.ts';

/** File names that identify a folder as a memory bank. */
const usual = [
  ...coreFiles.flatMap((name) => [name, olderName(name) ?? name]),
  'projectbrief.md',
  'project-brief.md',
  'techContext.md',
  'tech-context.md',
];

/** Folders `memory-bank/` and `cline_docs/` with their markdown files (seed 003). */
const folder: ExchangeFormat = {
  name: 'memory-bank',
  title: 'markdown files of a memory-bank or cline_docs folder',
  places: ['memory-bank', 'cline_docs'],
  recognises: (name, entries) =>
    /^(?:memory-bank|cline_docs)$/.test(name)
      ? entries.some((entry) => /\.md$|\/$/.test(entry))
      : usual.filter((file) => entries.includes(file)).length >= 2,
  read(source) {
    const camelCase = new Set(source.files.filter((file) => coreFiles.some((one) => one === file)));
    return readMarkdown(source, (file, gathering) => {
      const newer = newerName(file);
      if (newer === undefined) return file;
      if (!camelCase.has(newer)) return newer;
      gathering.note(
        file,
        `${newer} also exists and takes precedence; this one is kept next to it`,
      );
      return file;
    });
  },
  async write({ project }) {
    const { records } = await project.list(memoryFile);
    return new Map(
      records
        .filter(({ path }) => !path.startsWith(`${decisions}/`))
        .map(({ path, value }) => [`memory-bank/${path}`, value.content]),
    );
  },
};

const decisions = 'decisions';

/**
 * Folders of architecture decision records: MADR, adr-tools and similar programs.
 *
 * The files keep their names, so that their numbers and the links between them stay valid.
 */
const adr: ExchangeFormat = {
  name: 'adr',
  title: 'architecture decision records: MADR, adr-tools',
  places: ['doc/adr', 'docs/adr', 'docs/decisions', 'doc/decisions', 'doc/architecture/decisions'],
  recognises: (_name, entries) => entries.some((entry) => /^\d{3,}-.+\.md$/.test(entry)),
  read: (source) => readMarkdown(source, (file) => `${decisions}/${file}`),
  async write({ project }) {
    const { records } = await project.list(memoryFile, { under: decisions });
    return new Map(
      records.map(({ path, value }) => [
        `docs/adr/${path.slice(decisions.length + 1)}`,
        value.content,
      ]),
    );
  },
};

/** The rule files of modes in the root of a project: `.clinerules-<mode>` (seed 003). */
const rules: ExchangeFormat = {
  name: 'rules',
  title: 'rule files of modes: .clinerules-<mode>',
  places: ['.'],
  shallow: true,
  recognises: (_name, entries) => entries.some((entry) => /^\.clinerules-[^/]+$/.test(entry)),
  *read(source) {
    const gathering = new Gathering();
    for (const file of source.files) {
      const rule = /^\.clinerules-(.+?)(\.(?:json|ya?ml|toml))?$/.exec(file);
      if (!rule) continue;
      gathering.attempt(file, () => {
        const content = source.text(file);
        const path = `rules/${encodeName(rule[1] ?? '')}${rule[2] ?? extensionOf(content)}`;
        gathering.found.push({ type: ruleFile, value: { path, content }, from: file });
      });
      yield;
    }
    return gathering;
  },
  async write({ project }) {
    const { records } = await project.list(ruleFile);
    return new Map(
      records.map(({ path, value }) => [
        `.clinerules-${path.slice('rules/'.length)}`,
        value.content,
      ]),
    );
  },
};

export const formats: readonly ExchangeFormat[] = [folder, adr, rules];

/** Reads every markdown file of a source, byte for byte. */
function* readMarkdown(
  source: Source,
  nameOf: (file: string, gathering: Gathering) => string,
): Reading {
  const gathering = new Gathering();
  const taken = new Set<string>();
  for (const file of source.files) {
    gathering.attempt(file, () => {
      if (!file.endsWith('.md')) return gathering.leave(file, 'is not a markdown file');
      const content = source.text(file);
      const wanted = nameOf(file, gathering);
      const path = distinct(permitted(wanted), taken);
      if (path !== wanted && path !== newerName(wanted)) gathering.note(file, `is kept as ${path}`);
      gathering.found.push(finding(path, content, file));
    });
    yield;
  }
  return gathering;
}

function finding(path: string, content: string, from: string): ImportedRecord {
  return {
    type: memoryFile,
    value: { path, content },
    from,
    replaces: (present) => 'content' in present && isTemplate(path, String(present.content)),
  };
}

/** Returns the name, or the nearest valid name for a file of the memory bank. */
function permitted(name: string): string {
  const normal = name.normalize();
  if (nameProblem(normal) === undefined) return normal;
  const allowed = normal
    .split('/')
    .map((part, i, all) => {
      const last = i === all.length - 1;
      const stem = last ? part.slice(0, -'.md'.length) : part;
      if (fileNameProblem(`${stem}.md`) === undefined) return part;
      return last ? `${encodeName(stem)}.md` : encodeName(stem);
    })
    .join('/');
  return nameProblem(allowed) === undefined ? allowed : `files/${allowed}`;
}

/** Returns the name, with a number when it clashes with one in use on some file system. */
function distinct(name: string, taken: Set<string>): string {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : name.replace(/\.md$/, `-${number}.md`);
    if (taken.has(foldName(candidate))) continue;
    taken.add(foldName(candidate));
    return candidate;
  }
}

/** Guesses the syntax of a rule file without an extension: JSON, else TOML, else YAML. */
function extensionOf(content: string): string {
  if (/^\s*\{/.test(content)) return '.json';
  const first = /^[ \t]*(?![#\s])(.+)$/m.exec(content)?.[1] ?? '';
  return /^(?:\[[\w."-]+\]\s*$|[\w."-]+\s*=)/.test(first) ? '.toml' : '.yaml';
}
