import * as z from 'zod';
import type { MemoryPin } from '../../core/memory/pinned-memories.ts';
import { yamlCodec } from '../../core/record/codec.ts';
import type { MergeRule } from '../../core/record/record-type.ts';
import { invalid, MemoryError } from '../../core/values/error.ts';
import { wholeOid } from '../../git/objects/object-format.ts';
import { formerRule } from '../../git/repository/conversions.ts';
import {
  firstFormat,
  formatVersion,
  headerCodec,
  restrictedFormat,
  restrictedProgram,
} from './memory-format.ts';
import { mergeHint } from './record-file.ts';

/** The path of the settings, relative to the memory folder. */
export const configPath = 'config.yaml';

/** An address without a login: the file is committed. */
const url = z.string().regex(/^(?!-)(?!https?:\/\/[^/]*@)[\x21-\x7e]{1,500}$/);
/** A folder without control characters. */
const folder = z.string().regex(/^(?!-)[^\x00-\x1f\x7f]{1,500}$/);

/** A memory of another repository. */
const memoryPin = z.object({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,39}$/)
    .describe('The first part of the addresses of its records: `name:knowledge/a.md`.'),
  url: url
    .optional()
    .describe('The address of its repository, without a login; either this or `path`.'),
  path: folder.optional().describe('The folder of its repository, relative to the project.'),
  ref: z
    .string()
    .regex(/^(?![-/.])(?!.*(?:\.\.|\/\/|\/\.|@\{|\.lock(?:\/|$)))[\w./+@-]{1,200}(?<![/.])$/)
    .optional()
    .describe('The branch or tag from which updates come. Without it: the default branch.'),
  commit: z.string().regex(wholeOid).describe('The commit whose memory is read.'),
  folder: folder
    .optional()
    .describe('Its memory folder in the repository. Without it: `.memory-bank`; `.` is the top.'),
});

/**
 * Refuses a pin that the settings would refuse.
 *
 * @throws MemoryError `invalid_input` that names the field.
 */
export function checkPin(pin: MemoryPin): void {
  const found = memoryPin.safeParse(pin).error?.issues[0];
  if (found) throw invalid(found.path.map(String), `is not valid for a pinned memory`);
}

/** The setting of a moment at which hooks speak. */
function spoken(what: string, usually = true) {
  return z
    .boolean()
    .optional()
    .describe(`Whether hooks give an agent ${what}. Without it: \`${usually}\`.`);
}

/** Limits of the synonyms. */
const mostGroups = 200;
const mostWords = 20;
const word = z
  .string()
  .regex(/^[\p{L}\p{M}\p{N}]{1,40}$/u, 'must be one word of letters and digits, at most 40');

/** The content of `config.yaml`. */
export const memoryConfig = z.object({
  format: z
    .int()
    .min(1)
    .describe(
      'Version of the layout of this folder: 2 with a setting that restricts (`review`, `layout: entries`), else 1. A program reads a version that it does not know, and writes nothing.',
    ),
  requires: z
    .string()
    .max(40)
    .optional()
    .describe('The first version of the program that may write this format.'),
  project_id: z.uuid().describe('The id of the project, a UUID; it never changes.'),
  secrets: z
    .object({
      allow: z
        .array(z.string().regex(/^[0-9a-f]{16}$/))
        .describe(
          'Fingerprints of texts that look like credentials but may be written: the first 16 hexadecimal digits of their SHA-256, as in the error.',
        ),
    })
    .optional()
    .describe('What the credential guard allows.'),
  squash_before_sync: z
    .boolean()
    .optional()
    .describe(
      'Whether sync makes the unpushed memory commits of the branch one commit before it pushes, as `squash` does. Without it: `false`.',
    ),
  record_commits: z
    .boolean()
    .optional()
    .describe(
      'Whether the end of an agent session adds its commits to progress.md, as one entry. Without it: `false`.',
    ),
  hook_start: spoken('the brief at the start of a session'),
  hook_prompt: spoken('records about a prompt'),
  hook_file: spoken('records about a file before it is read or edited'),
  hook_command: spoken('corrections of a command before it runs'),
  hook_end: spoken(
    'one sentence at the end of a session that has changed code and not the memory: the records that may be out of date now',
    false,
  ),
  docs: z
    .boolean()
    .optional()
    .describe(
      'Whether `check` also compares instructions and documents, such as `AGENTS.md`, with the project. Without it: `false`.',
    ),
  sign_off: z
    .boolean()
    .optional()
    .describe(
      'Whether the commits of the memory get `Signed-off-by` with the committer, as by `git commit --signoff`. Without it: as `format.signOff` of git says.',
    ),
  sync: z
    .enum(['auto', 'manual'])
    .optional()
    .describe(
      'Whether a server exchanges the memory with the upstream of the branch by itself: before the first call of a session, after changes, before a brief, and every minute while it is in use. Without it: `manual`.',
    ),
  review: z
    .enum(['required'])
    .optional()
    .describe(
      'Whether changes of agents wait on a branch of their own until a person accepts them. Without it: they are committed to the memory at once.',
    ),
  review_branch: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,60}$/)
    .optional()
    .describe(
      'The name under which the changes of all agents wait. Without it: a name for each session.',
    ),
  synonyms: z
    .array(z.array(word).min(2).max(mostWords))
    .max(mostGroups)
    .optional()
    .describe(
      'Words that mean the same in this project, in groups: a search for one of them also finds the others.',
    ),
  layout: z
    .enum(['log', 'entries'])
    .optional()
    .describe(
      'Whether each decision and the progress of each session has a file of its own (`entries`), so that branches merge on a server without a conflict. `memory-bank layout` changes it. Without it: `log`.',
    ),
  memories: z
    .array(memoryPin)
    .max(20)
    .optional()
    .describe('Read-only memories of other repositories, each pinned by a commit.'),
});

/** The settings of `config.yaml`. */
export type MemoryConfig = z.output<typeof memoryConfig>;

const codec = yamlCodec(memoryConfig);

/**
 * Whether each setting restricts what programs may do. A program that does not know such a setting must not
 * write, so the setting raises the format.
 */
const restricts: Record<keyof MemoryConfig, boolean> = {
  format: false,
  requires: false,
  project_id: false,
  secrets: false,
  squash_before_sync: false,
  record_commits: false,
  hook_start: false,
  hook_prompt: false,
  hook_file: false,
  hook_command: false,
  hook_end: false,
  docs: false,
  sign_off: false,
  sync: false,
  review: true,
  review_branch: false,
  synonyms: false,
  layout: true,
  memories: false,
};
const restricting = memoryConfig.keyof().options.filter((key) => restricts[key]);

/** Whether settings need a higher format than they have, as after an edit by hand. */
export function lacksFormat(config: MemoryConfig): boolean {
  return (
    config.format < restrictedFormat &&
    restricting.some((key) => config[key] !== undefined && config[key] !== 'log')
  );
}

/** Settings with the format that they need; a higher one stays. */
function inFormat(config: MemoryConfig): MemoryConfig {
  if (!lacksFormat(config)) return config;
  return { ...config, format: restrictedFormat, requires: restrictedProgram };
}

/** Writes changed settings; comments and unknown keys of the present text stay. */
export function writeConfig(config: MemoryConfig, present: string): string {
  return codec.encode(inFormat(config), present);
}

/** Merge rules of `config.yaml`; if two branches each created the memory, one of their ids is kept. */
export const configRecord = {
  name: 'settings',
  codec,
  merge: {
    format: 'max',
    requires: 'latest',
    project_id: 'first',
    memories: 'list',
    synonyms: 'list',
  } satisfies MergeRule<MemoryConfig>,
};

/**
 * Reads `config.yaml`. Of a later format, only the header is read.
 *
 * @throws MemoryError `damaged` for a text that is not a configuration.
 */
export function readConfig(text: string): MemoryConfig {
  try {
    const head = headerCodec.decode(text, configPath);
    return head.format > formatVersion ? head : codec.decode(text, configPath);
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    const isConflict = error.code === 'conflict';
    throw new MemoryError('damaged', `${configPath}: ${error.message}`, {
      hint: `${isConflict ? mergeHint : 'Fix it, or restore it from git.'} Nothing is written until then.`,
      data: { path: configPath },
      cause: error,
    });
  }
}

/**
 * The files of every memory folder that are not records, each with a function that completes it.
 *
 * @param projectId the id for a memory folder without one.
 */
export function ownFiles(
  projectId: string,
): readonly (readonly [path: string, complete: (present: string | undefined) => string])[] {
  return [
    [
      configPath,
      (present) => {
        if (present === undefined)
          return codec.encode({ format: firstFormat, project_id: projectId });
        const config = readConfig(present);
        return lacksFormat(config) ? writeConfig(config, present) : present;
      },
    ],
    ['.gitattributes', withAttributes],
  ];
}

/** The rules that git needs for a memory folder, each below a comment for people. */
const attributes = [
  ['# Keeps git from changing the line ends of the memory.', '* -text'],
  [
    '# Merges records field by field and logs entry by entry, where "memory-bank install-merge-driver" was run.',
    '* merge=memory-bank',
  ],
] as const;

/** Adds the missing rules to a `.gitattributes`, which an earlier version may have written. */
function withAttributes(present = ''): string {
  // The rule of version 1.0.0 stays: that version would add it again.
  const lines = present.split(/\r?\n/).map((line) => (line === formerRule ? '* -text' : line));
  const missing = attributes.filter(([, rule]) => !lines.includes(rule)).flat();
  const gap = present === '' || present.endsWith('\n') ? '' : '\n';
  return missing.length === 0 ? present : `${present}${gap}${missing.join('\n')}\n`;
}
