import { expect } from 'vitest';
import { deep } from '../support/depth.ts';
import { LayoutMemory } from '../support/layout-memory.ts';
import { Clock, place } from '../support/placed.ts';

deep.each([
  ['log', 'entries'],
  ['entries', 'log'],
] as const)(
  'a merge of two branches of the memory with the layouts %s and %s has one of them',
  async (first, then) => {
    const memory = await LayoutMemory.in(first);
    const { app, repo, session } = memory;
    const log = async (title: string) => {
      await memory.decide(title);
      await memory.call('track_progress', { action: 'Fix', description: `it ${title}` });
    };
    await log('Base');
    await place(repo.root, { kind: 'own-branch', branch: 'memory/*' }, new Clock());
    repo.git('checkout', '-q', '-b', 'feature');
    await log('Theirs');
    repo.git('checkout', '-q', 'main');
    await memory.convert(then);
    await log('Ours');
    const merge = () =>
      app.run(session, 'merge', {}, ({ history }) =>
        history.merge('memory/feature', { ours: [], theirs: [] }),
      );
    expect(await merge()).toMatchObject({ isNew: true });
    const text = await memory.content('decisionLog.md');
    expect(text.match(/(?<=^## )\w+/gm)?.sort()).toEqual(['Base', 'Ours', 'Theirs']);
    const done = (await memory.content('progress.md')).match(/(?<=Fix: it )\w+/g);
    expect(done?.sort()).toEqual(['Base', 'Ours', 'Theirs']);
    expect(await memory.convert(then)).toBeUndefined();
    expect(await merge()).toMatchObject({ isNew: false });
    await memory.close();
  },
);
