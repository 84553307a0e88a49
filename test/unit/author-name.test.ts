import { describe, expect, test } from 'vitest';
import { agentName, isOfPerson } from '../../src/core/memory/author-name.ts';
import { Session } from '../../src/core/memory/session.ts';

describe('the name that an agent gives itself', () => {
  test.each([
    'memory-bank-view/1.0.0',
    'memory-bank-cli/9',
    'memory-bank',
    'Memory-Bank-View/1',
    ' memory-bank-view/1',
    '\u200bmemory-bank-view/1',
    'memory-bank/2',
  ])('gets a prefix if it is one of this program: %j', (name) => {
    const session = new Session(() => 'id', true);
    session.agent = name;
    expect(session.agent).toBe(`client:${name}`);
    expect(isOfPerson(session.agent ?? '')).toBe(false);
  });

  test.each(['claude-code/2.1', 'memory-bankers/1', 'x memory-bank-view/1'])('stays %j', (name) => {
    expect(agentName(name)).toBe(name);
  });

  test('of a person is not changed', () => {
    const session = new Session(() => 'id');
    session.agent = 'memory-bank-view/1.0.0';
    expect(session.agent).toBe('memory-bank-view/1.0.0');
  });
});

test.each([
  ['memory-bank-view/1.0.0', true],
  ['memory-bank-cli/1.0.0, memory-bank-view/1.0.0', true],
  // A squash of changes of a person and of an agent.
  ['memory-bank-cli/1.0.0, claude-code/2.1', false],
  ['memory-bank-viewer/1', false],
  ['memory-bank', false],
])('commits of %s are of a person: %j', (agent, expected) => {
  expect(isOfPerson(agent)).toBe(expected);
});
