import { join } from 'node:path';
import { byInit } from '../set-up.js';

/** @type {import('../entries.js').Entry} */
export const claudeCode = {
  title: 'Claude Code',
  client: 'claude',
  spec: '@anthropic-ai/claude-code@2.1.332',
  program: 'node_modules/@anthropic-ai/claude-code-linux-x64/claude',
  wire: 'Anthropic Messages',
  agent: /^claude-code\//,
  setUp: byInit('claude'),
  prepare(scene) {
    scene.atHome('.claude.json', {
      hasCompletedOnboarding: true,
      projects: { [scene.root]: { hasTrustDialogAccepted: true } },
    });
  },
  trust(scene) {
    scene.write(join(scene.root, '.claude/settings.local.json'), {
      enabledMcpjsonServers: ['memory-bank'],
    });
  },
  pending: 'uses it',
  trusted: 'asks at its next start (`enabledMcpjsonServers`)',
  env: (url) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'made-up-key',
    MCP_CONNECTION_NONBLOCKING: '0',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  }),
  args: (prompt) => [
    '-p',
    prompt,
    '--model',
    'claude-sonnet-4-5',
    '--allowedTools',
    'mcp__memory-bank,Read',
  ],
  find: (name) => ({ name: 'ToolSearch', args: { query: `select:${name}` } }),
  edit: (scene, path) => ({ name: 'Read', args: { file_path: join(scene.root, path) } }),
  gets: ['start', 'prompt', 'edit'],
};
