import { z } from 'zod';
import { encodeName, slug } from '../../src/core/names/name.ts';
import { markdownCodec, yamlCodec } from '../../src/core/record/codec.ts';
import { usualRoles } from '../../src/core/record/part-role.ts';
import { defineRecordType } from '../../src/core/record/record-type.ts';
import type { Repo } from './repo.ts';

const noteSchema = z.object({ key: z.string(), tags: z.array(z.string()), text: z.string() });
export type Note = z.output<typeof noteSchema>;

/** A record type for tests, with paths made from keys. */
export const note = defineRecordType<Note>({
  name: 'note',
  toolset: 'test',
  folder: 'notes',
  extension: '.yaml',
  schema: noteSchema,
  codec: yamlCodec(noteSchema),
  key: ({ key }) => key,
  path: ({ key }) => `notes/${encodeName(key)}.yaml`,
  locate: (key) => [`notes/${encodeName(key)}.yaml`],
  search: ({ key, text, tags }) => ({ title: key, body: text, notes: tags.join(' ') }),
  roles: usualRoles,
  merge: { tags: 'set', text: 'text' },
});

const letterSchema = z.object({ id: z.string(), title: z.string(), body: z.string() });
export type Letter = z.output<typeof letterSchema>;

/** A record type for tests, with paths that must be looked up. */
export const letter = defineRecordType<Letter>({
  name: 'letter',
  toolset: 'test',
  folder: 'letters',
  extension: '.md',
  schema: letterSchema,
  codec: markdownCodec(letterSchema, 'body'),
  key: ({ id }) => id,
  path: ({ title }) => `letters/${slug(title)}.md`,
  search: ({ title, body }) => ({ title, body }),
  roles: usualRoles,
  merge: { body: 'sections' },
});

/** Writes 70 letters, which together are larger than the 128 MiB that one list takes. */
export function writeLargeLetters(repo: Pick<Repo, 'write'>): void {
  const body = 'x'.repeat(2_000_000);
  for (let i = 0; i < 70; i++) {
    const text = `---\nid: l${i}\ntitle: Letter ${i}\n---\n${body}\n`;
    repo.write(`.memory-bank/letters/letter-${i}.md`, text);
  }
}
