import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { errorCodes } from '../../src/core/values/error.ts';
import { statuses } from '../../src/server/http/server/http-error.ts';
import { viewFace } from '../../src/server/view/view-face.ts';
import { serve } from '../support/http.ts';
import { table, withPart } from '../support/page.ts';
import { projectApp } from '../support/project-app.ts';
import { Repo } from '../support/repo.ts';

const file = resolve(import.meta.dirname, '../../docs/http.md');

it('docs/http.md lists every operation and every status', async () => {
  const face = viewFace({ folder: '', version: '0.0.0' });
  const project = { name: 'one', app: projectApp(Repo.create().root) };
  const api = await serve({ metrics: true, projects: [project] }, {}, {}, face);
  const { body } = await api.ask('GET', '/openapi.json');
  await api.close();
  const operations = Object.entries<Record<string, { summary: string }>>(body.paths).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, { summary }]) => [
        `\`${method.toUpperCase()} ${path}\``,
        summary,
      ]),
  );
  const byStatus = [...new Set(Object.values(statuses))].sort().map((status) => {
    const codes = errorCodes.filter((code) => statuses[code] === status);
    return [`${status}`, codes.map((code) => `\`${code}\``).join(', ')];
  });
  const text = readFileSync(file, 'utf8');
  const listed = withPart(text, 'operations', table(['operation', ''], operations));
  const complete = withPart(listed, 'statuses', table(['status', 'error'], byStatus));
  await expect(complete).toMatchFileSnapshot(file);
});
