import {
  type ExchangeFormat,
  Gathering,
  isoTime,
  parseJson,
} from '../../core/declarations/exchange-format.ts';
import { byCreation } from '../../core/memory/listing.ts';
import { MemoryError } from '../../core/values/error.ts';
import { isObject } from '../../core/values/json.ts';
import { documentRecord } from './document.ts';

/** The folder `.infinity/` of seed 002: `project_id` and `memories.json`. */
const infinity: ExchangeFormat = {
  name: 'infinity',
  title: 'typed memories of an .infinity folder',
  places: ['.infinity'],
  recognises: (name, entries) =>
    entries.includes('memories.json') || (name === '.infinity' && entries.includes('project_id')),
  *read(source) {
    const gathering = new Gathering();
    for (const file of source.files) {
      if (file === 'project_id') continue;
      if (file !== 'memories.json') {
        gathering.leave(file, 'is not a file of this format');
        continue;
      }
      gathering.attempt(file, () => {
        const data = parseJson(source.text(file));
        const { memories, project_id, ...others } = isObject(data) ? data : {};
        if (typeof project_id === 'string') checkProject(project_id);
        if (!Array.isArray(memories))
          throw new MemoryError('damaged', 'The list "memories" is missing.');
        for (const [i, memory] of memories.entries())
          readMemory(memory, `${file}, memory ${i + 1}`);
        for (const name of Object.keys(others)) {
          gathering.leave(`${file}, "${name}"`, 'is not part of this format');
        }
      });
      yield;
    }
    return gathering;

    /** Throws MemoryError `damaged` when the file `project_id` names another project. */
    function checkProject(id: string): void {
      const fileId = source.files.includes('project_id') ? source.text('project_id').trim() : id;
      if (fileId.toLowerCase() !== id.toLowerCase()) {
        throw new MemoryError(
          'damaged',
          `memories.json names project ${id}, but project_id contains "${fileId}".`,
          { hint: 'Correct the wrong one.' },
        );
      }
      gathering.projectId = id;
    }

    function readMemory(memory: unknown, from: string): void {
      if (!isObject(memory)) {
        gathering.leave(from, 'is not an object');
        return;
      }
      const { id, title, type, content, created_at, updated_at, ...others } = memory;
      const updated = isoTime(updated_at);
      if (updated === undefined && updated_at !== undefined && updated_at !== null) {
        gathering.note(from, 'its updated_at is not a timestamp and is left out');
      }
      for (const name of Object.keys(others)) {
        gathering.note(from, `its "${name}" is left out: a document has no such field`);
      }
      gathering.found.push({
        type: documentRecord,
        // The import checks this value and reports what does not match the schema.
        value: {
          id,
          title,
          type,
          content,
          created_at: isoTime(created_at) ?? created_at,
          ...(updated && { updated_at: updated }),
        },
        from,
      });
    }
  },
  async write({ project, projectId }) {
    const { records } = await project.list(documentRecord);
    if (records.length === 0) return new Map();
    const memories = byCreation(records).map(({ value }) => ({
      id: value.id,
      title: value.title,
      type: value.type,
      content: value.content,
      created_at: value.created_at,
      updated_at: value.updated_at ?? null,
    }));
    const data = { project_id: projectId ?? null, memories };
    return new Map([
      ['.infinity/memories.json', `${JSON.stringify(data, undefined, 2)}\n`],
      ...(projectId === undefined ? [] : [['.infinity/project_id', projectId] as const]),
    ]);
  },
};

export const formats: readonly ExchangeFormat[] = [infinity];
