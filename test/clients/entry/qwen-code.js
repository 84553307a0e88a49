import { byInit } from '../set-up.js';

/** @type {import('../entries.js').Entry} */
export const qwenCode = {
  title: 'Qwen Code',
  client: 'qwen',
  spec: '@qwen-code/qwen-code@0.24.4',
  program: 'node_modules/.bin/qwen',
  wire: 'OpenAI Chat',
  agent: /qwen/,
  setUp: byInit('qwen'),
  prepare(scene) {
    scene.atHome('.qwen/settings.json', {
      security: { auth: { selectedType: 'openai' }, folderTrust: { enabled: true } },
      general: { enableAutoUpdate: false, disableAutoUpdate: true },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
    });
  },
  trust(scene) {
    scene.atHome('.qwen/trustedFolders.json', { [scene.root]: 'TRUST_FOLDER' });
  },
  pending: 'goes on without',
  trusted: 'the folder (`trustedFolders.json`)',
  env: (url) => ({
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: 'made-up-key',
    OPENAI_MODEL: 'pretend',
    QWEN_TELEMETRY_ENABLED: 'false',
  }),
  args: (prompt) => ['--approval-mode', 'yolo', '-p', prompt],
  edit: (scene, path) => ({ name: 'read_file', args: { file_path: `${scene.root}/${path}` } }),
  gets: ['start', 'prompt', 'edit'],
};
