import * as z from 'zod';
import { usualRoles } from '../../core/record/part-role.ts';
import { defineRecordType } from '../../core/record/record-type.ts';

const schema = z.object({
  /** Path below `.memory-bank/`: `rules/code.yaml`. */
  path: z.string(),
  /** The whole text of the file. */
  content: z.string(),
});

/** A rule file of a mode (seed 003): kept as it was written, read by the modes of the store. */
export const ruleFile = defineRecordType<z.infer<typeof schema>>({
  name: 'rule-file',
  toolset: 'memory-bank',
  folder: 'rules',
  extension: '.yaml',
  schema,
  codec: {
    encode: ({ content }) => content,
    decode: (content, path) => ({ path, content }),
  },
  fanOut: false,
  owns: (path) => /^rules\/[^/]+\.(?:json|ya?ml|toml)$/.test(path),
  key: ({ path }) => path,
  path: ({ path }) => path,
  locate: (key) => [key],
  search: ({ path, content }) => ({ title: path, body: content }),
  roles: usualRoles,
  merge: { path: 'value', content: 'text' },
});
