import { expect, it } from 'vitest';
import { Session } from '../../../src/core/session.ts';
import { banks } from '../../../src/toolsets/banks/toolset.ts';
import { callTool, TestContext } from '../../support/context.ts';

/** The scripted conversation of the toolset: what it leaves is what a person would keep. */
it('leaves banks that a person would keep', async () => {
  const context = new TestContext(banks);
  context.project.files.set('README.md', '# Ledger\n\nBooks invoices.\n');
  const call = async (name: string, args: object) => {
    const { body, isError } = await callTool(banks, context, name, args);
    expect(isError, JSON.stringify(body)).toBe(false);
    return body;
  };
  const project = { bank_type: 'project', bank_id: 'Ledger' };
  const repo = { bank_type: 'code', bank_id: 'ledger' };

  await call('activate', project);
  for (const [position, content] of [
    ['Decisions', '- Use PostgreSQL: one database for books and queue. Rejected: Redis.'],
    ['Decisions', '- Book in whole cents: no rounding anywhere.'],
    ['Constraints', '- Ten years of invoices stay readable.'],
  ]) {
    await call('update', {
      ...project,
      target_file: 'doc/architecture.md',
      operation: 'insert',
      position,
      content,
      trigger_type: 'architecture',
    });
  }
  await call('activate', repo);
  await call('swap', project);
  const before = await call('swap', repo);

  context.session = new Session('01AGAIN');
  const after = await call('activate', repo);
  expect(after).toEqual(before);
  expect(Object((await call('activate', project)).content)['doc/architecture.md']).toBe(
    `# Architecture

## Overview

## Components

## Decisions

- Use PostgreSQL: one database for books and queue. Rejected: Redis.
- Book in whole cents: no rounding anywhere.

## Constraints

- Ten years of invoices stay readable.
`,
  );
  expect(Object.fromEntries(context.store.files)).toMatchSnapshot();
  expect(context.store.commits.map(({ subject, reason }) => [subject, reason])).toEqual([
    ['create project bank "Ledger"', undefined],
    ['update doc/architecture.md of project bank "Ledger"', '// Update #1 for conversation 01TEST'],
    ['update doc/architecture.md of project bank "Ledger"', '// Update #2 for conversation 01TEST'],
    ['update doc/architecture.md of project bank "Ledger"', '// Update #3 for conversation 01TEST'],
    ['create code bank "ledger"', undefined],
  ]);
});
