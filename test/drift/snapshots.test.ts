import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { deep } from '../support/depth.ts';
import { newFolder } from '../support/process.ts';

const top = resolve(import.meta.dirname, '../..');

deep('a missing snapshot fails, and is written by --update only', () => {
  const root = newFolder();
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'test'));
  const body = `await expect('text').toMatchFileSnapshot('page.md'); expect('text').toMatchSnapshot();`;
  writeFileSync(join(root, 'test/a.test.ts'), `it('has its page', async () => { ${body} });\n`);
  const run = (...options: string[]) => {
    const program = join(top, 'node_modules/vitest/vitest.mjs');
    const config = join(top, 'vitest.config.ts');
    const args = ['run', '--globals', '--reporter=dot', `--root=${root}`, `--config=${config}`];
    const { CI: _, UPDATE_SNAPSHOT: __, ...env } = process.env;
    return spawnSync(process.execPath, [program, ...args, ...options], { env, encoding: 'utf8' });
  };
  const written = () =>
    ['page.md', '__snapshots__'].filter((name) => existsSync(join(root, 'test', name)));

  const plain = run();
  expect(plain.stdout + plain.stderr).toContain('has its page');
  expect([plain.status, written()]).toEqual([1, []]);
  expect([run('--update').status, written()]).toEqual([0, ['page.md', '__snapshots__']]);
  expect(run().status).toBe(0);
});
