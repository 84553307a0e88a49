// `npm run test:clients`: drives the real programs of clients against a pretend model, after the setup of `init`.
//
// `node test/clients/run.js codex` runs only this one; `--show` prints what it says, `--update` writes the table.
import { entries } from './entries.js';
import { installedProgram } from './installation.js';
import { startModel } from './pretend-model.js';
import { tryClient } from './sessions.js';
import { writeTable } from './table.js';

const options = process.argv.slice(2).filter((word) => word.startsWith('--'));
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const isShown = options.includes('--show');
const model = await startModel();
const begun = Date.now();
const total = { passed: 0, failed: 0, skipped: 0 };
/** @type {Map<string, import('./sessions.js').Result>} */
const results = new Map();
for (const entry of entries) {
  if (wanted.length > 0 && !wanted.includes(entry.client)) continue;
  const program = installedProgram(entry.spec, entry.program);
  if (program === undefined) {
    console.log(`"${entry.client}" was not tried: npm cannot bring ${entry.spec} here.`);
    total.skipped += 1;
    continue;
  }
  const result = await tryClient(entry, program, model, (line) => {
    if (isShown) console.log(line);
  });
  const isRight = result.faults.length === 0;
  // A row of the table says that all was right.
  if (isRight) results.set(entry.client, result);
  total[isRight ? 'passed' : 'failed'] += 1;
  console.log(`${isRight ? 'passed' : 'FAILED'}: ${entry.title} (${entry.spec})`);
  for (const fault of result.faults) console.log(`  ${fault}`);
}
model.close();
if (options.includes('--update')) writeTable(results);
console.log(`The clients took ${Math.round((Date.now() - begun) / 1000)} s.`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed > 0 ? 1 : 0;
