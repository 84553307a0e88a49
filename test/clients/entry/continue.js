import { join } from 'node:path';
import { byInit } from '../set-up.js';

/** @type {import('../entries.js').Entry} */
export const continueCli = {
  title: 'Continue CLI',
  client: 'continue-cli',
  spec: '@continuedev/cli@1.5.47',
  program: 'node_modules/.bin/cn',
  wire: 'OpenAI Chat',
  agent: /continue/,
  setUp: byInit('continue-cli'),
  prepare(scene, url) {
    scene.atHome(
      '.continue/config.yaml',
      `name: pretend
version: 0.0.1
schema: v1
models:
  - name: pretend
    provider: openai
    model: pretend
    apiBase: ${url}/v1
    apiKey: made-up-key
    roles: [chat] # mine
`,
    );
  },
  trusted: 'asks for each tool (`--auto` allows them)',
  env: () => ({ CONTINUE_TELEMETRY_ENABLED: '0', CONTINUE_CLI_AUTO_UPDATED: 'true' }),
  args: (prompt) => ['-p', '--auto', prompt],
  edit: (scene, path) => ({ name: 'Read', args: { filepath: join(scene.root, path) } }),
  gets: [],
};
