import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  contextAnswer,
  type HookEvent,
  printedAnswer,
  readEvent,
} from '../../src/app/hook/client-event.ts';

const asClaude = (name: string) => ({
  hookSpecificOutput: { hookEventName: name, additionalContext: 'text' },
});
const cline = { clineVersion: '3.40.0', taskId: 't1', workspaceRoots: ['/p'] };
const crush = { event: 'PreToolUse', session_id: 's1', cwd: '/p' };
const antigravity = { conversationId: 'c1', workspacePaths: ['/p'], modelName: 'gemini' };
const injected = { injectSteps: [{ systemMessage: { systemMessage: 'text' } }] };
const augment = { conversation_id: 'c1', workspace_roots: ['/p'] };

it.each<[string, string, HookEvent, object, object | undefined]>([
  [
    'cline',
    'start',
    'session-start',
    { ...cline, hookName: 'TaskStart', taskStart: { taskMetadata: {} } },
    { cancel: false, contextModification: 'text' },
  ],
  [
    'cline',
    'prompt',
    'prompt',
    { ...cline, hookName: 'UserPromptSubmit', userPromptSubmit: { prompt: 'rotate the keys' } },
    { cancel: false, contextModification: 'text' },
  ],
  [
    'cline',
    'action',
    'action',
    {
      ...{ ...cline, hookName: 'PreToolUse' },
      preToolUse: { toolName: 'write_to_file', parameters: { path: 'a.ts' } },
    },
    { cancel: false, contextModification: 'text' },
  ],
  [
    'crush',
    'action',
    'action',
    { ...crush, tool_name: 'edit', tool_input: { file_path: 'a.ts' } },
    { context: 'text' },
  ],
  [
    'augment',
    'start',
    'session-start',
    { ...augment, hook_event_name: 'SessionStart' },
    asClaude('SessionStart'),
  ],
  [
    'cursor',
    'start',
    'session-start',
    { ...augment, hook_event_name: 'sessionStart', cursor_version: '2.1.0' },
    { additional_context: 'text' },
  ],
  [
    'qwen',
    'prompt',
    'prompt',
    {
      ...{ session_id: 's1', cwd: '/p', hook_event_name: 'UserPromptSubmit' },
      ...{ transcript_path: '/home/me/.qwen/tmp/s1.jsonl', prompt: 'rotate the keys' },
    },
    asClaude('UserPromptSubmit'),
  ],
  [
    'droid',
    'action',
    'action',
    {
      ...{ session_id: 's1', cwd: '/p', hook_event_name: 'PreToolUse' },
      ...{ transcript_path: '/home/me/.factory/sessions/s1.jsonl', tool_name: 'Edit' },
      tool_input: { file_path: 'a.ts' },
    },
    undefined,
  ],
  [
    'droid',
    'action',
    'action',
    {
      ...{ session_id: 's1', cwd: '/p', hook_event_name: 'PostToolUse' },
      ...{ transcript_path: '/home/me/.factory/sessions/s1.jsonl', tool_name: 'Read' },
      tool_input: { file_path: 'a.ts' },
    },
    asClaude('PostToolUse'),
  ],
  [
    'gemini',
    'action',
    'action',
    {
      ...{ session_id: 's1', cwd: '/p', hook_event_name: 'AfterTool' },
      ...{ tool_name: 'read_many_files', tool_input: { include: ['a.ts'] } },
    },
    asClaude('AfterTool'),
  ],
  [
    'cursor',
    'action',
    'action',
    {
      ...{ ...augment, cwd: '/p', hook_event_name: 'postToolUse', cursor_version: '2.1.0' },
      ...{ tool_name: 'Read', tool_input: { file_path: 'a.ts' } },
    },
    { additional_context: 'text' },
  ],
  ['antigravity', 'start', 'session-start', antigravity, injected],
])(
  '%s is known by its input, and answered in its form: %s',
  (client, moment, event, input, answer) => {
    const read = readEvent(event, JSON.stringify(input));
    if (!read) throw new Error('The event cannot be read.');
    expect(read).toMatchObject({ client, cwd: '/p', session: expect.stringMatching(/^[cst]1$/) });
    if (moment === 'prompt') expect(read.prompt).toBe('rotate the keys');
    if (moment === 'action') expect(read.action?.files).toEqual(['a.ts']);
    expect(contextAnswer(read, 'text')).toEqual(answer);
  },
);

it('kiro is named by the command, and gets a text that begins with a mark', () => {
  const input = { hook_event_name: 'PreToolUse', cwd: '/p', session_id: 's1' };
  const read = readEvent(
    'action',
    JSON.stringify({
      ...input,
      tool_name: 'fs_read',
      tool_input: { operations: [{ mode: 'Line', path: 'a.ts' }] },
    }),
    'kiro',
  );
  if (!read) throw new Error('The event cannot be read.');
  expect(read).toMatchObject({ client: 'kiro', action: { files: ['a.ts'] } });
  const answer = contextAnswer(read, 'one\ntwo');
  expect(answer && printedAnswer(answer)).toBe('# Project memory\n\none\ntwo');
  expect(printedAnswer({ text: 'é' })).toBe('{"text":"\\u00e9"}');
});

it('the prompt of Antigravity is the last one in its transcript, before the first call about it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'memory-bank-transcript-'));
  const transcriptPath = join(folder, 'transcript.jsonl');
  const step = (text: string) =>
    JSON.stringify({ type: 'USER_INPUT', content: `<USER_REQUEST>\n${text}\n</USER_REQUEST>\nx` });
  const promptAt = (invocationNum: number, path = transcriptPath) =>
    readEvent('prompt', JSON.stringify({ ...antigravity, invocationNum, transcriptPath: path }))
      ?.prompt;
  const answer = JSON.stringify({ type: 'PLANNER_RESPONSE', content: 'USER_INPUT' });
  writeFileSync(transcriptPath, `${step('first')}\n${answer}\n${step('rotate the keys')}\n{"ty`);
  expect(promptAt(0)).toBe('rotate the keys');
  expect(promptAt(1)).toBe('');
  expect(promptAt(0, folder)).toBe('');
  expect(promptAt(0, join(folder, 'missing'))).toBe('');
  rmSync(folder, { recursive: true });
});
