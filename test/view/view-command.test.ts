import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'vitest';
import { deep } from '../support/depth.ts';
import { main } from '../support/process.ts';
import { Repo } from '../support/repo.ts';

deep('memory-bank view prints a link that opens the pages, and ends with a signal', async () => {
  const repo = Repo.create();
  const child = spawn(process.execPath, [main, 'view', '--no-open'], { cwd: repo.root });
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  const link = new URL(String(line).trim());
  expect(link.hostname).toBe('127.0.0.1');
  const entered = await fetch(link, { redirect: 'manual' });
  const [cookie = ''] = entered.headers.get('set-cookie')?.split(';') ?? [];
  expect(cookie).toMatch(/^view_[0-9a-f]{12}=/);
  expect(await (await fetch(`${link.origin}/view/`)).text()).toContain('/view/page.js');
  expect((await fetch(`${link.origin}/view/page.js`)).status).toBe(200);
  const [, secret = ''] = entered.headers.get('location')?.split('#session=') ?? [];
  const headers = { cookie, 'x-memory-page': secret };
  const home = await fetch(`${link.origin}/memory/home`, { headers });
  expect(await home.json()).toMatchObject({ records: [], problems: [] });
  child.kill('SIGTERM');
  await once(child, 'exit');
  repo.remove();
});
