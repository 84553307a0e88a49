import { join } from 'node:path';
import { byInit } from '../set-up.js';

/** @type {import('../entries.js').Entry} */
export const droid = {
  title: 'Droid',
  client: 'droid',
  spec: 'droid@0.215.0',
  program: 'node_modules/.bin/droid',
  wire: 'OpenAI Chat',
  agent: /droid|factory/,
  setUp: byInit('droid'),
  prepare(scene, url) {
    scene.atHome('.factory/settings.json', {
      customModels: [
        {
          model: 'pretend',
          id: 'custom:pretend',
          displayName: 'Pretend',
          baseUrl: `${url}/v1`,
          apiKey: 'made-up-key',
          provider: 'generic-chat-completion-api',
          maxOutputTokens: 4096,
        },
      ],
    });
  },
  trusted: 'asks for each tool (`--skip-permissions-unsafe` allows them)',
  env: (url) => ({
    FACTORY_API_KEY: 'fk-made-up-key',
    FACTORY_API_BASE_URL: url,
    FACTORY_DROID_AUTO_UPDATE_ENABLED: 'false',
  }),
  args: (prompt) => ['exec', '--skip-permissions-unsafe', '-m', 'custom:pretend', prompt],
  find: (name) => ({ name: 'ToolSearch', args: { query: `select:${name}` } }),
  edit: (scene, path) => ({ name: 'Read', args: { file_path: join(scene.root, path) } }),
  gets: ['start', 'edit'],
};
