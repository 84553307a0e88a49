import { chmodSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { Repo } from '../support/repo.ts';

/** A way in which git lays out a repository, and what becomes of a memory in it. */
export interface Layout {
  readonly name: string;
  /** Makes it of a repository with one commit; returns the work tree of the memory, if that is another. */
  make(repo: Repo): Repo | undefined;
  /** Whether only a git that knows refs in tables can make it. */
  readonly needsTables?: true;
  /** Why it is refused; undefined if it works. */
  readonly refused?: {
    readonly reason: string;
    /** The commands of git that the error names, after which it works; undefined if this git knows none. */
    readonly remedy?: readonly (readonly string[])[];
    readonly told: string;
  };
}

/** Moves a part of the git directory away, and leaves a link. */
function moveOut(repo: Repo, part: string, to: string): undefined {
  renameSync(repo.path(`.git/${part}`), repo.path(`.git/${to}`));
  symlinkSync(repo.path(`.git/${to}`), repo.path(`.git/${part}`));
}

/** A clone below the git directory of a repository, with which it is removed. */
function cloneIn(repo: Repo, ...options: string[]): Repo {
  const root = repo.path('.git/clone');
  repo.git('clone', '-q', ...options, `file://${repo.root}`, root);
  return identified(new Repo(root));
}

function identified(repo: Repo): Repo {
  repo.git('config', 'user.name', 'Ada Lovelace');
  repo.git('config', 'user.email', 'ada@example.org');
  return repo;
}

/** Sets an extension of the repository format (gitrepository-layout). */
function extend(repo: Repo, name: string, value: string): undefined {
  repo.git('config', 'core.repositoryFormatVersion', '1');
  repo.git('config', `extensions.${name}`, value);
}

function twoFolders(repo: Repo): void {
  repo.write('a/file', 'a\n');
  repo.write('b/file', 'b\n');
  repo.git('add', '.');
  repo.git('commit', '-qm', 'Two folders');
}

/** All layouts, in the order of the table. */
export const layouts: readonly Layout[] = [
  {
    name: 'a linked work tree',
    make(repo) {
      repo.git('worktree', 'add', '-q', '-b', 'side', '.git/side');
      return new Repo(repo.path('.git/side'));
    },
  },
  {
    name: 'a bare repository, and a linked work tree for each branch beside it (`.git` is a file that names `./.bare`)',
    make(repo) {
      repo.git('clone', '-q', '--bare', repo.root, repo.path('.git/all/.bare'));
      const top = new Repo(repo.path('.git/all'));
      top.write('.git', 'gitdir: ./.bare\n');
      identified(top).git('worktree', 'add', '-q', 'main', 'main');
      return new Repo(repo.path('.git/all/main'));
    },
  },
  {
    name: 'a git directory elsewhere (`git init --separate-git-dir`)',
    make(repo) {
      const top = new Repo(repo.path('.git/top'));
      repo.write('.git/top/file', '');
      repo.git('init', '-q', `--separate-git-dir=${repo.path('.git/dir')}`, top.root);
      identified(top).git('commit', '-q', '--allow-empty', '-m', 'Begin');
      return top;
    },
  },
  {
    name: 'a submodule',
    make(repo) {
      const outer = new Repo(repo.path('.git/outer'));
      repo.git('init', '-q', outer.root);
      identified(outer).git(
        ...['-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', repo.root, 'inner'],
      );
      return identified(new Repo(outer.path('inner')));
    },
  },
  {
    name: '`.git/objects` is a link, as in checkouts of Android’s `repo`',
    make: (repo) => moveOut(repo, 'objects', 'objects-elsewhere'),
  },
  {
    name: '`.git/refs/heads` is a link',
    make: (repo) => moveOut(repo, 'refs/heads', 'heads-elsewhere'),
  },
  {
    name: '`.git/HEAD` is a symbolic link to its branch',
    make(repo) {
      rmSync(repo.path('.git/HEAD'));
      symlinkSync('refs/heads/main', repo.path('.git/HEAD'));
      return undefined;
    },
  },
  {
    name: 'alternates (`git clone --shared`)',
    make: (repo) => cloneIn(repo, '--shared', '--no-local'),
  },
  { name: 'a shallow clone', make: (repo) => cloneIn(repo, '--depth=1') },
  {
    name: 'a partial clone (`--filter=blob:none`)',
    make(repo) {
      repo.git('config', 'uploadpack.allowFilter', 'true');
      return cloneIn(repo, '--filter=blob:none');
    },
  },
  {
    name: '`core.sharedRepository`',
    make(repo) {
      repo.git('config', 'core.sharedRepository', 'group');
      return undefined;
    },
  },
  {
    name: 'settings by `includeIf`',
    make(repo) {
      repo.git('config', '--unset', 'user.name');
      writeFileSync(repo.path('.git/more'), '[user]\n\tname = Ada Lovelace\n');
      repo.git('config', 'includeIf.gitdir:**/.git.path', 'more');
      return undefined;
    },
  },
  {
    name: 'SHA-256 object ids',
    make(repo) {
      return Repo.in(repo.path('.git/other')).begin('--object-format=sha256');
    },
  },
  {
    name: 'an index of version 4',
    make(repo) {
      repo.git('update-index', '--index-version', '4');
      return undefined;
    },
  },
  {
    name: 'an index without a checksum (`index.skipHash`)',
    make(repo) {
      repo.git('config', 'index.skipHash', 'true');
      repo.write('file', 'a\n');
      repo.git('add', 'file');
      return undefined;
    },
  },
  {
    name: 'the untracked cache',
    make(repo) {
      repo.git('config', 'core.untrackedCache', 'true');
      repo.git('update-index', '--untracked-cache');
      repo.git('status');
      return undefined;
    },
  },
  {
    name: 'a sparse checkout with a sparse index',
    make(repo) {
      twoFolders(repo);
      repo.git('sparse-checkout', 'set', '--cone', '--sparse-index', 'a', 'm');
      return undefined;
    },
  },
  {
    name: 'a split index',
    make(repo) {
      twoFolders(repo);
      repo.git('config', 'core.splitIndex', 'true');
      repo.git('config', 'splitIndex.maxPercentChange', '100');
      repo.git('update-index', '--split-index');
      repo.write('c/file', 'c\n');
      repo.git('add', 'c/file');
      repo.git('rm', '-q', '--cached', 'a/file');
      repo.git('commit', '-qm', 'Others');
      return undefined;
    },
  },
  {
    name: 'the monitor of the file system (`core.fsmonitor`)',
    make(repo) {
      repo.write('.git/monitor', '#!/bin/sh\nprintf "now\\0/\\0"\n');
      chmodSync(repo.path('.git/monitor'), 0o755);
      repo.git('config', 'core.fsmonitor', repo.path('.git/monitor'));
      repo.git('update-index', '--fsmonitor');
      repo.git('status');
      return undefined;
    },
  },
  {
    name: 'packed objects and refs, with a multi-pack-index, bitmaps and a commit-graph',
    make(repo) {
      twoFolders(repo);
      repo.git('repack', '-adq', '--write-bitmap-index', '--write-midx');
      repo.git('commit-graph', 'write', '--reachable');
      repo.git('pack-refs', '--all');
      return undefined;
    },
  },
  {
    name: 'replaced commits (`git replace`)',
    make(repo) {
      twoFolders(repo);
      repo.git('replace', 'HEAD', repo.git('commit-tree', '-m', 'x', 'HEAD^{tree}').trim());
      return undefined;
    },
  },
  {
    name: 'commits with other parents (`.git/info/grafts`)',
    make(repo) {
      twoFolders(repo);
      repo.write('.git/info/grafts', repo.git('rev-parse', 'HEAD'));
      return undefined;
    },
  },
  {
    name: 'files among the refs that are not refs (`.DS_Store`, `desktop.ini`, `main 2`, an empty file)',
    make(repo) {
      for (const name of ['.DS_Store', 'desktop.ini', 'main 2', 'empty']) {
        repo.write(`.git/refs/heads/${name}`, '');
      }
      return undefined;
    },
  },
  {
    name: 'refs in tables (reftable), also with SHA-256 ids',
    needsTables: true,
    make(repo) {
      const options = ['--object-format=sha256', '--ref-format=reftable'];
      return Repo.in(repo.path('.git/other')).begin(...options);
    },
  },
  {
    name: 'refs in tables, and a linked work tree',
    needsTables: true,
    make(repo) {
      const other = Repo.in(repo.path('.git/other')).begin('--ref-format=reftable');
      other.git('worktree', 'add', '-q', '-b', 'side', 'side');
      return new Repo(other.path('side'));
    },
  },
  {
    name: 'refs of a later format',
    make: (repo) => extend(repo, 'refStorage', 'later'),
    refused: {
      reason: 'its refs are stored as later',
      told: 'a later version of this program, or `--root` with another repository',
    },
  },
  {
    name: 'object ids of a later format',
    make: (repo) => extend(repo, 'objectFormat', 'sha512'),
    refused: {
      reason: 'its object ids are sha512',
      told: 'a later version of this program, or `--root` with another repository',
    },
  },
  {
    name: 'an extension that is not known',
    make: (repo) => extend(repo, 'later', 'true'),
    refused: {
      reason: 'the extension "later" is not known',
      told: 'a later version of this program',
    },
  },
  {
    name: 'a work tree elsewhere (`core.worktree`)',
    make(repo) {
      repo.write('elsewhere/file', '');
      repo.git('config', 'core.worktree', repo.path('elsewhere'));
      return undefined;
    },
    refused: {
      reason: 'core.worktree puts its files in',
      remedy: [['config', '--unset', 'core.worktree']],
      told: 'the server in that folder, with a `.git` file in it',
    },
  },
];
