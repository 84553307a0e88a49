import { byInit } from '../set-up.js';

/** @type {import('../entries.js').Entry} */
export const codex = {
  title: 'Codex',
  client: 'codex',
  spec: '@openai/codex@0.171.0',
  program: 'node_modules/.bin/codex',
  wire: 'OpenAI Responses',
  agent: /^codex/,
  setUp: byInit('codex'),
  prepare(scene, url) {
    scene.atHome(
      '.codex/config.toml',
      `model = "pretend"
model_provider = "pretend"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.pretend]
name = "pretend"
base_url = "${url}/v1"
env_key = "PRETEND_KEY"
wire_api = "responses"
[projects."${scene.root}"]
trust_level = "trusted"
`,
    );
  },
  trusted: 'the project (`trust_level`), and each hook under `/hooks`',
  env: () => ({ PRETEND_KEY: 'made-up-key' }),
  args: (prompt) => [
    'exec',
    '--dangerously-bypass-approvals-and-sandbox',
    '--dangerously-bypass-hook-trust',
    prompt,
  ],
  edit: (_, path) => ({ name: 'exec_command', args: { cmd: `cat ${path}` } }),
  gets: ['start', 'prompt', 'edit'],
};
