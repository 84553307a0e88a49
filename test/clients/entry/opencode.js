import { byInit } from '../set-up.js';

/**
 * The settings of opencode and its forks, with a provider that is the pretend model.
 *
 * @param {string} url
 */
export const openProvider = (url) => ({
  autoupdate: false,
  share: 'disabled',
  model: 'pretend/pretend',
  small_model: 'pretend/pretend',
  provider: {
    pretend: {
      npm: '@ai-sdk/openai-compatible',
      name: 'Pretend',
      options: { baseURL: `${url}/v1`, apiKey: 'made-up-key' },
      models: { pretend: { name: 'Pretend' } },
    },
  },
});

/**
 * Before it loads a plugin, it installs a package for plugins beside it, and goes on without: with npm's retries that
 * takes minutes where there is no network.
 */
export const withoutNetwork = { npm_config_fetch_retries: '0' };

/** @type {import('../entries.js').Entry} */
export const opencode = {
  title: 'opencode',
  client: 'opencode',
  spec: 'opencode-ai@1.18.33',
  program: 'node_modules/opencode-linux-x64/bin/opencode',
  wire: 'OpenAI Chat',
  agent: /^opencode/,
  setUp: byInit('opencode'),
  prepare(scene, url) {
    scene.atHome('.config/opencode/opencode.json', openProvider(url));
  },
  trusted: 'none',
  env: () => ({
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    ...withoutNetwork,
  }),
  args: (prompt) => ['run', '--model', 'pretend/pretend', prompt],
  edit: (scene, path) => ({ name: 'read', args: { filePath: `${scene.root}/${path}` } }),
  gets: ['start', 'prompt', 'edit'],
};
