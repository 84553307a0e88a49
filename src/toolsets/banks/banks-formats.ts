import { type ExchangeFormat, Gathering } from '../../core/declarations/exchange-format.ts';
import { fileNameProblem } from '../../core/names/file-name.ts';
import { fileNames } from '../../core/names/name.ts';
import { trueName } from './bank.ts';
import { bankDocument } from './bank-document.ts';

/** The folder of banks of seed 001: `global/`, `projects/<id>/`, `code/<id>/`. */
const bankFolders: ExchangeFormat = {
  name: 'banks',
  title: 'bank folders: global, projects/<id>, code/<id>',
  places: [],
  recognises: (_name, entries) =>
    entries.length > 0 && entries.every((entry) => /^(?:global|projects|code)\/$/.test(entry)),
  *read(source) {
    const gathering = new Gathering();
    /** The id of each new folder: two ids can have the same readable name. */
    const ids = new Map<string, string>();
    for (const file of source.files) {
      gathering.attempt(file, () => {
        const [kind = '', first = '', ...rest] = file.split('/');
        if (file.endsWith('/cache.json')) {
          return gathering.leave(file, 'is a cache, which is rebuilt when needed');
        }
        if (!['global', 'projects', 'code'].includes(kind) || !file.endsWith('.md')) {
          return gathering.leave(file, 'is not a document of a bank');
        }
        // The folder tree in the seed has one global bank without an id; the seed's `list` calls it "general".
        const loose = kind === 'global' && rest.length === 0;
        const id = loose ? 'general' : first;
        const name = loose ? first : rest.join('/');
        const problem = fileNameProblem(name);
        if (problem !== undefined) return gathering.leave(file, `its name ${problem}`);
        const written = source.text(file);
        const possible = fileNames(id).map((folder) => `${kind}/${folder}`);
        const folder = possible.find((path) => (ids.get(path) ?? id) === id) ?? `${kind}/${id}`;
        ids.set(folder, id);
        const key = `${folder}/${name}`;
        const decoded = bankDocument.codec.decode(written, `banks/${key}`);
        gathering.found.push({
          type: bankDocument,
          value: { ...decoded, ...trueName({ folder, id }) },
          from: file,
          written,
          home: kind === 'global',
        });
      });
      yield;
    }
    return gathering;
  },
  async write({ project, home }) {
    const files = new Map<string, string>();
    for (const [reader, kinds] of [
      [await home(), ['global']],
      [project, ['projects', 'code']],
    ] as const) {
      for (const kind of kinds) {
        const { records } = await reader.list(bankDocument, { under: kind });
        for (const { value } of records) {
          const { key, bank, ...front } = value;
          const [, folder = '', ...rest] = key.split('/');
          const path = [kind, bank ?? folder, ...rest].join('/');
          files.set(`memory/${path}`, bankDocument.codec.encode({ ...front, key }));
        }
      }
    }
    return files;
  },
};

export const formats: readonly ExchangeFormat[] = [bankFolders];
