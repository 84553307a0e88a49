import { byInit } from '../set-up.js';

/** @type {import('../entries.js').Entry} */
export const geminiCli = {
  title: 'Gemini CLI',
  client: 'gemini',
  spec: '@google/gemini-cli@0.61.0',
  program: 'node_modules/.bin/gemini',
  wire: 'Gemini',
  agent: /^gemini-cli/,
  setUp: byInit('gemini'),
  prepare(scene) {
    scene.atHome('.gemini/settings.json', {
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: true } },
      general: { disableAutoUpdate: true, disableUpdateNag: true },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
    });
  },
  trust(scene) {
    scene.atHome('.gemini/trustedFolders.json', { [scene.root]: 'TRUST_FOLDER' });
  },
  pending: 'stops',
  trusted: 'the folder (`trustedFolders.json`)',
  env: (url) => ({
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: 'made-up-key',
    GEMINI_CLI_NO_RELAUNCH: 'true',
  }),
  args: (prompt) => ['--model', 'gemini-2.5-flash', '--approval-mode', 'yolo', '-p', prompt],
  edit: (_, path) => ({ name: 'read_file', args: { file_path: path } }),
  gets: ['start', 'prompt', 'edit'],
};
