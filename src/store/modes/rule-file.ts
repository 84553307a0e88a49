import { parse as parseToml } from 'smol-toml';
import * as z from 'zod';
import type { Mode } from '../../core/declarations/context.ts';
import { conform } from '../../core/record/shape.ts';
import { MemoryError } from '../../core/values/error.ts';
import { isObject } from '../../core/values/json.ts';
import { readYaml } from '../../core/yaml/yaml.ts';
import { expandPatterns } from './access.ts';

/** In order of precedence among files of the same folder and mode. */
const extensions = ['json', 'yaml', 'yml', 'toml'] as const;

type Extension = (typeof extensions)[number];

const modeName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/;
/** The argument of `switch_mode` that ends the mode; a mode of this name could never be entered. */
const reserved = 'none';

/** Returns the rank of a file among those of the same folder and mode; the lowest rank wins. */
export function ruleRank(name: string): number {
  return extensions.findIndex((extension) => name.endsWith(`.${extension}`));
}

/** Returns the mode in the name of a rule file, with or without an extension. */
export function modeOf(name: string): string {
  const extension = extensions[ruleRank(name)];
  return extension ? name.slice(0, -extension.length - 1) : name;
}

const readers: { readonly [E in Extension]: (text: string) => unknown } = {
  json: JSON.parse,
  toml: (text) => parseToml(text, { maxDepth: 32 }),
  yaml: readYaml,
  yml: readYaml,
};

const lines = z.array(z.string());

/** An optional section; a list instead of a section is its instructions. */
function section<S extends z.ZodType>(schema: S) {
  return z.preprocess(
    (value) => (Array.isArray(value) ? { instructions: value } : (value ?? undefined)),
    schema.optional(),
  );
}

/** A rule file as seed 003 prints it under "Rule Files". */
const ruleFile = z.object({
  mode: z.string(),
  instructions: z.object({
    general: lines,
    umb: section(
      z.object({
        trigger: z.string().min(1).optional(),
        instructions: lines.default([]),
        override_file_restrictions: z.boolean().default(false),
      }),
    ),
    memory_bank: section(
      z.object({
        instructions: lines.default([]),
        files_to_read: lines.optional(),
        files_to_update: lines.optional(),
      }),
    ),
  }),
  mode_triggers: z.unknown().optional(),
});

/**
 * Reads a rule file in JSON, YAML or TOML (seed 003, "Rule Files").
 *
 * A file without an extension is read as the first of JSON, TOML and YAML that yields a mapping. If a
 * key occurs twice in JSON, the last one counts.
 *
 * @param name the mode in the file's name, with the extension if it has one: `code.yaml`.
 * @param source where the file was found, for people.
 * @throws MemoryError `damaged` or `too_large`; its message says why the file does not describe a mode.
 */
export function parseRuleFile(text: string, name: string, source: string): Mode {
  const named = modeOf(name);
  if (!modeName.test(named))
    throw new MemoryError('damaged', 'does not have a valid mode in its name');
  if (named === reserved) {
    throw new MemoryError('damaged', `is for a mode "${reserved}", which is a reserved name`);
  }
  const extension = extensions[ruleRank(name)];
  const { mode, instructions, mode_triggers } = conform(ruleFile, mapping(text, extension));
  if (mode !== named) {
    const shown = JSON.stringify(mode.slice(0, 40));
    throw new MemoryError('damaged', `says mode ${shown}, but its name says "${named}"`);
  }
  const { umb, memory_bank: files } = instructions;
  expandPatterns(files?.files_to_read ?? []);
  expandPatterns(files?.files_to_update ?? []);
  return {
    name: mode,
    source,
    instructions: [...instructions.general, ...(files?.instructions ?? [])],
    umb: umb && {
      trigger: umb.trigger ?? mode,
      instructions: umb.instructions,
      overrideFileRestrictions: umb.override_file_restrictions,
    },
    filesToRead: files?.files_to_read,
    filesToUpdate: files?.files_to_update,
    triggers: triggersOf(mode_triggers),
  };
}

function mapping(text: string, extension: Extension | undefined): Record<string, unknown> {
  const content = text.replace(/^\uFEFF/, '');
  const tried = extension ? [extension] : (['json', 'toml', 'yaml'] as const);
  let reason = 'has no keys';
  for (const format of tried) {
    try {
      const value = readers[format](content);
      if (isObject(value)) return value;
    } catch (error) {
      // The parsers add an excerpt of the file below the first line.
      reason = error instanceof Error ? error.message.replace(/\n.*/s, '') : reason;
    }
  }
  const formats = tried.map((format) => format.toUpperCase()).join(', ');
  throw new MemoryError('damaged', `cannot be read as ${formats}: ${reason.slice(0, 200)}`);
}

/** Reads the phrases by target mode; they may be `[{condition}]`, `{condition: […]}` or plain text. */
function triggersOf(value: unknown): Mode['triggers'] {
  if (!isObject(value)) return {};
  const named = Object.entries(value).filter(([mode]) => modeName.test(mode));
  return Object.fromEntries(named.map(([mode, phrases]) => [mode, phrasesOf(phrases)]));
}

function phrasesOf(value: unknown, depth = 3): string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value];
  if (depth === 0) return [];
  if (Array.isArray(value)) return value.flatMap((item) => phrasesOf(item, depth - 1));
  return isObject(value) ? phrasesOf(value.condition, depth - 1) : [];
}
