import { byInit } from '../set-up.js';

const provider = 'openai-compatible';

/** @type {import('../entries.js').Entry} */
export const cline = {
  title: 'Cline',
  client: 'cline',
  spec: 'cline@3.0.65',
  program: 'node_modules/.bin/cline',
  wire: 'OpenAI Chat',
  agent: /cline/i,
  setUp: byInit('cline'),
  prepare(scene, url) {
    scene.atHome('.cline/data/settings/providers.json', {
      version: 1,
      lastUsedProvider: provider,
      modes: {},
      providers: {
        [provider]: {
          settings: { provider, apiKey: 'made-up-key', model: 'pretend', baseUrl: `${url}/v1` },
          updatedAt: '2026-11-29T00:00:00.000Z',
          tokenSource: 'manual',
        },
      },
    });
  },
  trusted: 'asks for each tool (`--auto-approve` allows them)',
  // Otherwise a daemon of the first session, which has the program on its PATH, runs the others as well.
  env: () => ({ CLINE_NO_AUTO_UPDATE: '1', CLINE_SESSION_BACKEND_MODE: 'local' }),
  args: (prompt) => ['-P', provider, '-m', 'pretend', prompt],
  edit: (scene, path) => ({
    name: 'read_files',
    args: { files: [{ path: `${scene.root}/${path}` }] },
  }),
  // It runs `TaskStart`, whose answer it does not use, and does not run `UserPromptSubmit`.
  gets: ['edit'],
};
