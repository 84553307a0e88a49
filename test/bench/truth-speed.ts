import { Session } from '../../src/core/memory/session.ts';
import { entryRecord } from '../../src/toolsets/knowledge/entry.ts';
import { Repo } from '../support/repo.ts';
import { ms, ratio, Times } from './figures.ts';
import { entry, placeOf } from './knowledge.ts';
import { openMemory } from './memory.ts';

const records = 10_000;
const files = 2_000;
const linesOfFile = 100;
const hits = 20;
const rounds = 20;

const nameOf = (file: number) => `src/part${file % 40}/file${file}.ts`;
const textOf = (file: number, version: number) =>
  Array.from({ length: linesOfFile }, (_, i) => `step(${file}, ${i}, ${version});`).join('\n');

/** Measures the verdicts of one answer, a whole check, and writes, in a large repository. */
export async function speed(): Promise<string[][]> {
  const repo = Repo.create();
  for (let file = 0; file < files; file++) repo.write(nameOf(file), `${textOf(file, 0)}\n`);
  for (let i = 0; i < records; i++) {
    const places = [i % files, (7 * i) % files].map(
      (file) => `${nameOf(file)}:${1 + (i % 90)}-${4 + (i % 90)}`,
    );
    const value = entry(i, `Topic${i % 500} rests on ${places.join(' and ')}`);
    repo.write(placeOf(i, value), entryRecord.codec.encode(value));
  }
  repo.git('add', '-A');
  repo.git('commit', '-q', '-m', 'Begin');
  let workspace = await openMemory(repo, 'relaxed');
  const session = new Session(() => 'bench');
  const { signal } = new AbortController();
  const bind = () =>
    workspace.bind({ session, tool: 'bench', signal, onCommit() {}, progress() {} });
  const [all, again, branch] = [new Times(), new Times(), new Times()];
  await all.measure(() => bind().history.evidence({}));
  for (const [times, request] of [
    [again, {}],
    [branch, { since: 'HEAD' }],
  ] as const) {
    await workspace.close();
    workspace = await openMemory(repo, 'relaxed');
    await times.measure(() => bind().history.evidence(request));
  }

  const found = await bind().store.search({ query: 'topic7', limit: hits });
  const paths = found.hits.map(({ path }) => path);
  const [warm, moved, refresh] = [new Times(), new Times(), new Times()];
  for (let i = 0; i < rounds; i++) {
    await refresh.measure(() => bind().store.get(entryRecord, 'patterns/none'));
    await warm.measure(() => bind().store.cautions(paths));
  }
  for (let i = 0; i < rounds; i++) {
    for (let file = 0; file < 200; file++) repo.write(nameOf(file), `${textOf(file, i + 1)}\n`);
    repo.git('add', '-A');
    repo.git('commit', '-q', '-m', 'Change the code');
    await bind().store.list(entryRecord, { keys: [] });
    await moved.measure(() => bind().store.cautions(paths));
  }

  const [plain, given, similar] = [new Times(), new Times(), new Times()];
  const write = async (number: number, places: readonly string[]) => {
    const { store, project } = bind();
    const evidence = await project.cite(places);
    const value = entry(number, `Topic${number} is new`);
    await store.change({ subject: 'write' }, async (tx) => {
      const { path } = await tx.put(entryRecord, value);
      if (evidence.length > 0) await tx.annotate(path, { evidence });
    });
    return value;
  };
  for (let i = 0; i < rounds; i++) {
    await plain.measure(() => write(records + 2 * i, []));
    const value = await given.measure(() =>
      write(records + 2 * i + 1, [`${nameOf(i)}:10-14`, nameOf(i + 1)]),
    );
    await similar.measure(() => bind().store.similar(entryRecord, { path: 'none', value }));
  }
  await workspace.close();
  repo.remove();
  return [
    [`verdicts of ${hits} hits, nothing moved`, warm.text],
    [`verdicts of ${hits} hits, after a commit that changes 200 files`, moved.text],
    ['first check of everything, new process', ms(all.median)],
    ['second check of everything, new process', ms(again.median)],
    ['check of a branch that changes nothing, new process', ms(branch.median)],
    ['search for similar records after a write', similar.text],
    ['write without evidence', plain.text],
    ['write with two places as evidence', `${given.text} (${ratio(given, plain)})`],
  ];
}
