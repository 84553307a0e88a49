import { z } from 'zod';
import { yamlCodec } from '../../core/codec.ts';
import { MemoryError } from '../../core/error.ts';
import type { MergeRule } from '../../core/record-type.ts';

/** The version of the layout that this program reads and writes. */
export const formatVersion = 1;

/** Where the settings of a bank lie, relative to it. */
export const configPath = 'config.yaml';

/** What `config.yaml` holds. */
export const memoryConfig = z.object({
  format: z
    .int()
    .min(1)
    .describe(
      'Version of the layout of this folder; a newer one than the program knows is refused.',
    ),
  project_id: z.uuid().describe('The identity of the project, a UUID; made once.'),
  secrets: z
    .object({
      allow: z
        .array(z.string().regex(/^[0-9a-f]{16}$/))
        .describe(
          'Fingerprints of texts that look like credentials and may be written all the same: the first 16 hexadecimal digits of their SHA-256, as the refusal names them.',
        ),
    })
    .optional()
    .describe('What the guard against credentials lets through.'),
});

export type MemoryConfig = z.output<typeof memoryConfig>;

const codec = yamlCodec(memoryConfig);

/** How `config.yaml` merges; of two branches that each began the memory, one gives the identity. */
export const configRecord = {
  name: 'settings',
  codec,
  merge: { format: 'max', project_id: 'first' } satisfies MergeRule<MemoryConfig>,
};

/**
 * Reads `config.yaml`.
 *
 * @throws MemoryError `unsupported` for a newer format, `damaged` for a text that is no configuration.
 */
export function readConfig(text: string): MemoryConfig {
  let config: MemoryConfig;
  try {
    config = codec.decode(text, configPath);
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    throw new MemoryError('damaged', `${configPath}: ${error.message}`, {
      hint: 'Mend it, or restore it from git; nothing is written until then.',
      data: { path: configPath },
      cause: error,
    });
  }
  if (config.format <= formatVersion) return config;
  throw new MemoryError(
    'unsupported',
    `This memory has the format ${config.format}; this program knows up to ${formatVersion}.`,
    { hint: 'Update memory-bank.', data: { format: config.format } },
  );
}

/**
 * The files that every bank has, beside records: what each of them is to be, from what it is.
 *
 * @param projectId of a bank that has none yet.
 */
export function ownFiles(
  projectId: string,
): readonly (readonly [path: string, complete: (present: string | undefined) => string])[] {
  return [
    [
      configPath,
      (present) => present ?? codec.encode({ format: formatVersion, project_id: projectId }),
    ],
    ['.gitattributes', withAttributes],
  ];
}

/** Each rule that git has to have of a bank, below what it is for. */
const attributes = [
  [
    '# Keeps git from changing the bytes of the memory: no line-end conversion, no filters.',
    '* -text -filter -ident -working-tree-encoding',
  ],
  [
    '# Merges records field by field and logs entry by entry, where "memory-bank install-merge-driver" was run.',
    '* merge=memory-bank',
  ],
] as const;

/** The text of `.gitattributes` with the rules that an earlier version of this program did not write. */
function withAttributes(present = ''): string {
  const lines = present.split(/\r?\n/);
  const missing = attributes.filter(([, rule]) => !lines.includes(rule)).flat();
  const gap = present === '' || present.endsWith('\n') ? '' : '\n';
  return missing.length === 0 ? present : `${present}${gap}${missing.join('\n')}\n`;
}
