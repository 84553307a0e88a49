import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Frame, Page } from 'playwright-core';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Returns the rules of accessibility that a page breaks, each with the first element. */
export async function findViolations(page: Page | Frame): Promise<string[]> {
  // The policy of the page keeps it from loading a script; the driver inserts it.
  await page.evaluate(readFileSync(axe, 'utf8'));
  return page.evaluate(async () => {
    const run: (options: {
      preload: boolean;
    }) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> = Reflect.get(
      globalThis,
      'axe',
    ).run;
    // It would read the style sheet again, which a copy in files forbids.
    return (await run({ preload: false })).violations.map(
      ({ id, nodes }) => `${id}: ${nodes[0]?.html}`,
    );
  });
}
