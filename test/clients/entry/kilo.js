import { byInit } from '../set-up.js';
import { openProvider, withoutNetwork } from './opencode.js';

/** @type {import('../entries.js').Entry} */
export const kilo = {
  title: 'Kilo Code',
  client: 'kilo',
  // The newest version whose program for Linux is published as well.
  spec: '@kilocode/cli@7.7.7',
  program: 'node_modules/@kilocode/cli-linux-x64/bin/kilo',
  wire: 'OpenAI Chat',
  agent: /kilo/,
  setUp: byInit('kilo'),
  prepare(scene, url) {
    scene.atHome('.config/kilo/kilo.jsonc', openProvider(url));
  },
  trusted: 'asks for each tool (`--auto` allows them)',
  env: () => ({
    KILO_DISABLE_AUTOUPDATE: '1',
    KILO_DISABLE_MODELS_FETCH: '1',
    KILO_DISABLE_LSP_DOWNLOAD: '1',
    KILO_TELEMETRY_LEVEL: 'off',
    ...withoutNetwork,
  }),
  args: (prompt) => ['run', '--auto', '--model', 'pretend/pretend', prompt],
  edit: (scene, path) => ({ name: 'read', args: { filePath: `${scene.root}/${path}` } }),
  gets: ['start', 'prompt', 'edit'],
};
