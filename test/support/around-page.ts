import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { findViolations } from './axe.ts';

/** From the page of the objective of payments, looks at what it rests on, and at what rests on one of its tasks. */
export async function walkAround(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'What it rests on, as a graph' }).click();
  await page.getByRole('heading', { name: 'What Make payments idempotent rests on' }).waitFor();
  const rests = page.getByRole('region', { name: 'It rests on' });
  await rests.getByRole('link', { name: /^Payment feature/ }).waitFor();
  const others = page.getByRole('region', { name: 'What rests on it' });
  expect(await others.getByRole('link', { name: / task$/ }).count()).toBe(3);
  const picture = page.getByRole('group', { name: 'Records and their parts' });
  await picture.getByRole('link', { name: /^Payment/ }).waitFor();
  expect(await findViolations(page)).toEqual([]);
  await others.getByRole('link', { name: 'around Report a refused card' }).click();
  await page.getByRole('heading', { name: /^What Report a refused card/ }).waitFor();
}
