import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClientFile } from '../../../core/memory/proposed-entry.ts';

/** Limits of the files of one client, and of their bytes. */
const maxFiles = 50;
const maxBytes = 256 * 1024;

/** Reads what clients have remembered about a project by themselves, in the folder of the user. */
export function clientMemories(home: string, root: string): ClientFile[] {
  // Claude Code names the folder of a project by its path.
  const claude = `.claude/projects/${root.replace(/[^A-Za-z0-9]/g, '-')}/memory`;
  const codex = markdownIn(home, '.codex/memories').map(({ name, text }) => {
    // Codex has one memory for all projects. The lines keep their numbers.
    const blocks = text.split(/^(?=# )/m).map((block) => {
      return namesFolder(block, root) ? block : block.replace(/[^\n]/g, '');
    });
    return { name, text: blocks.join('') };
  });
  return [...markdownIn(home, claude), ...codex.filter(({ text }) => text.trim() !== '')];
}

function namesFolder(text: string, root: string): boolean {
  for (let at = text.indexOf(root); at >= 0; at = text.indexOf(root, at + 1)) {
    if (!/[\w./-]/.test(text.charAt(at + root.length).replace('.', ''))) return true;
  }
  return false;
}

function markdownIn(home: string, folder: string): ClientFile[] {
  try {
    const names = readdirSync(join(home, folder)).filter((name) => name.endsWith('.md'));
    return names
      .sort()
      .slice(0, maxFiles)
      .flatMap((name) => {
        const path = join(home, folder, name);
        const stat = lstatSync(path);
        if (!stat.isFile() || stat.size > maxBytes) return [];
        return [{ name: `~/${folder}/${name}`, text: readFileSync(path, 'utf8') }];
      });
  } catch {
    return [];
  }
}
