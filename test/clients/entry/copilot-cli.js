import { join } from 'node:path';
import { byInit } from '../set-up.js';

/** @type {import('../entries.js').Entry} */
export const copilotCli = {
  title: 'Copilot CLI',
  client: 'copilot',
  spec: '@github/copilot@1.0.102',
  program: 'node_modules/.bin/copilot',
  wire: 'OpenAI Chat',
  agent: /copilot/,
  // It also runs the hooks of Claude Code, which say nothing again.
  setUp: byInit('claude,copilot'),
  prepare(scene) {
    scene.atHome('.copilot/config.json', { trusted_folders: [], banner: 'never' });
  },
  trust(scene) {
    scene.atHome('.copilot/config.json', { trusted_folders: [scene.root], banner: 'never' });
  },
  pending: 'goes on without',
  trusted: 'the folder (`trusted_folders`)',
  env: (url) => ({
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_TYPE: 'openai',
    COPILOT_PROVIDER_API_KEY: 'made-up-key',
    COPILOT_MODEL: 'pretend',
    COPILOT_OFFLINE: 'true',
    COPILOT_AUTO_UPDATE: 'false',
  }),
  args: (prompt) => ['--allow-all-tools', '--no-auto-update', '-p', prompt],
  edit: (scene, path) => ({ name: 'view', args: { path: join(scene.root, path) } }),
  gets: ['start', 'edit'],
};
