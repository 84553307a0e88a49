import { dirname } from 'node:path';
import { isObject } from '../../../core/values/json.ts';
import type { TrustFile } from './client.ts';

/** The servers of `.mcp.json` that a user of Claude Code approved of at its start. */
export const claudeTrust: TrustFile = {
  place: '~/.claude.json',
  coversHooks: false,
  pending: 'has no approval of the server yet and uses it with `-p` only',
  approves(value, root) {
    const project = member(member(value, 'projects'), root);
    if (has(project, 'disabledMcpjsonServers')) return false;
    return has(project, 'enabledMcpjsonServers');
  },
};

/** The folders that a user of Codex trusts, whose settings it reads. */
export const codexTrust: TrustFile = {
  place: '{CODEX_HOME:~/.codex}/config.toml',
  approves: (value, root) => {
    return member(member(member(value, 'projects'), root), 'trust_level') === 'trusted';
  },
};

/** The folders that a user of Copilot CLI trusts. */
export const copilotTrust: TrustFile = {
  place: '~/.copilot/config.json',
  approves: (value, root) => {
    const folders = member(value, 'trusted_folders') ?? member(value, 'trustedFolders');
    return Array.isArray(folders) && foldersAround(root).some((one) => folders.includes(one));
  },
};

/** The folders that a user of Gemini CLI, or of a program made from it, trusts. */
export function folderTrust(home: string, usually: boolean): TrustFile {
  return {
    place: `${home}/trustedFolders.json`,
    asks: { place: `${home}/settings.json`, usually },
    approves(value, root) {
      const [nearest] = foldersAround(root).flatMap((folder) => {
        const state = member(value, folder);
        return typeof state === 'string' ? [state] : [];
      });
      return nearest === undefined ? false : nearest !== 'DO_NOT_TRUST';
    },
  };
}

/** Whether the settings of a client turn the trust of folders on or off. */
export function asksForTrust(settings: unknown): boolean | undefined {
  const enabled = member(member(member(settings, 'security'), 'folderTrust'), 'enabled');
  return typeof enabled === 'boolean' ? enabled : undefined;
}

function member(value: unknown, key: string): unknown {
  return isObject(value) ? value[key] : undefined;
}

function has(project: unknown, key: string): boolean {
  const names = member(project, key);
  return Array.isArray(names) && names.includes('memory-bank');
}

/** A folder and those around it, the nearest first. */
function foldersAround(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [path, ...foldersAround(parent)];
}
