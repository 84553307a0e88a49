import {
  chmodSync,
  cpSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstGit, type GitVersion } from '../../src/git/repository/git-version.ts';
import { hasTables, objectFormat, Repo } from '../support/repo.ts';

/** A way in which git lays out a repository, and what becomes of a memory in it. */
export interface Layout {
  readonly name: string;
  /** Makes it of a repository with one commit; returns the work tree of the memory, if that is another. */
  make(repo: Repo): Repo | undefined;
  /** The first git that can make it, if that is a recent one. */
  readonly needs?: GitVersion;
  /** The user's configuration, if the layout has something in it. */
  readonly env?: NodeJS.ProcessEnv;
  /** The step of the user after a change, where git needs one. */
  readonly follow?: { run(git: (...args: string[]) => string): void; readonly told: string };
  /** Why it is refused; undefined if it works. */
  readonly refused?: {
    readonly reason: string;
    readonly hint: string;
    /** Does as the hint says, after which it works, and returns the work tree, if that is another. */
    remedy?(place: Repo): Repo | undefined;
    /** The environment after that, if it is another. */
    readonly env?: NodeJS.ProcessEnv;
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

/** Changes the configuration of a repository that git may refuse. */
function set(repo: Repo, ...change: string[]): undefined {
  repo.git('config', '--file', '.git/config', ...change);
}

/** Sets an extension of the repository format (gitrepository-layout). */
function extend(repo: Repo, name: string, value: string, version = '1'): undefined {
  set(repo, 'core.repositoryFormatVersion', version);
  set(repo, `extensions.${name}`, value);
}

/** A bare repository, and the linked work tree of its branch next to it. */
function besideBare(repo: Repo): Repo {
  repo.git('clone', '-q', '--bare', repo.root, repo.path('.git/all/.bare'));
  const top = new Repo(repo.path('.git/all'));
  top.write('.git', 'gitdir: ./.bare\n');
  identified(top).git('worktree', 'add', '-q', 'main', 'main');
  return new Repo(repo.path('.git/all/main'));
}

/** A repository below the git directory of another, which is its submodule `inner`. */
function outside(repo: Repo): Repo {
  const outer = new Repo(repo.path('.git/outer'));
  repo.git('init', '-q', outer.root);
  const add = ['submodule', 'add', '-q', repo.root, 'inner'];
  identified(outer).git('-c', 'protocol.file.allow=always', ...add);
  return outer;
}

/** Adds a file and commits it. */
function addFile(repo: Repo, name: string): void {
  repo.write(name, name);
  repo.git('add', name);
  repo.git('commit', '-qm', `Add ${name}`);
}

function twoFolders(repo: Repo): void {
  repo.write('a/file', 'a\n');
  repo.write('b/file', 'b\n');
  repo.git('add', '.');
  repo.git('commit', '-qm', 'Two folders');
}

const elsewhere = {
  GIT_OBJECT_DIRECTORY: '.git/elsewhere',
  GIT_ALTERNATE_OBJECT_DIRECTORIES: '.git/objects',
};

/** In the folder of the tests, which is removed after them. */
const alternates = join(tmpdir(), `memory-bank-alternates-${process.pid}`);

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
    make: besideBare,
  },
  {
    name: 'the same, with `safe.bareRepository=explicit`',
    env: {
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.bareRepository',
      GIT_CONFIG_VALUE_0: 'explicit',
    },
    make: besideBare,
  },
  {
    name: 'linked work trees with relative paths (`extensions.relativeWorktrees`)',
    needs: [2, 48],
    make(repo) {
      repo.git('worktree', 'add', '-q', '--relative-paths', '-b', 'side', '.git/side');
      return new Repo(repo.path('.git/side'));
    },
  },
  {
    name: 'the bare repository with settings of its own (`extensions.worktreeConfig`, `core.bare` in `config.worktree`)',
    make(repo) {
      const place = besideBare(repo);
      const bare = new Repo(repo.path('.git/all/.bare'));
      bare.git('config', 'core.repositoryFormatVersion', '1');
      bare.git('config', 'extensions.worktreeConfig', 'true');
      bare.git('config', '--unset', 'core.bare');
      bare.git('config', '--file', 'config.worktree', 'core.bare', 'true');
      return place;
    },
  },
  {
    name: '`.git` is a link',
    make(repo) {
      const clone = cloneIn(repo);
      renameSync(clone.path('.git'), repo.path('.git/moved'));
      symlinkSync('../moved', clone.path('.git'));
      return clone;
    },
  },
  {
    name: 'a second work tree by links to `refs`, `objects` and others (`git-new-workdir`)',
    make(repo) {
      const main = hasTables ? Repo.in(repo.path('.git/other')).begin('--ref-format=files') : repo;
      main.git('pack-refs', '--all');
      const side = new Repo(repo.path('.git/side'));
      for (const name of ['config', 'refs', 'logs/refs', 'objects', 'info', 'packed-refs']) {
        side.write(`.git/${name}`, '');
        rmSync(side.path(`.git/${name}`));
        symlinkSync(main.path(`.git/${name}`), side.path(`.git/${name}`));
      }
      cpSync(main.path('.git/HEAD'), side.path('.git/HEAD'));
      side.git('checkout', '-q', '-f', '-b', 'side');
      return side;
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
    make: (repo) => identified(new Repo(outside(repo).path('inner'))),
  },
  {
    name: 'a submodule in a linked work tree',
    make(repo) {
      const outer = outside(repo);
      outer.git('commit', '-qm', 'Add inner');
      outer.git('worktree', 'add', '-q', 'side');
      const update = ['submodule', 'update', '-q', '--init'];
      outer.gitWith({ cwd: outer.path('side') }, '-c', 'protocol.file.allow=always', ...update);
      const inner = identified(new Repo(outer.path('side/inner')));
      inner.git('switch', '-q', 'main');
      return inner;
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
    name: 'the branch in HEAD is a symbolic ref',
    make(repo) {
      repo.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/main');
      repo.git('symbolic-ref', 'HEAD', 'refs/heads/alias');
      return undefined;
    },
  },
  {
    name: 'alternates (`git clone --shared`)',
    make: (repo) => cloneIn(repo, '--shared', '--no-local'),
  },
  {
    name: 'alternates with a relative path',
    make(repo) {
      const clone = cloneIn(repo, '--shared', '--no-local');
      clone.write('.git/objects/info/alternates', '../../../objects\n');
      return clone;
    },
  },
  {
    name: 'alternates by the environment (`GIT_ALTERNATE_OBJECT_DIRECTORIES`)',
    env: { GIT_ALTERNATE_OBJECT_DIRECTORIES: alternates },
    make(repo) {
      cpSync(repo.path('.git/objects'), alternates, { recursive: true });
      rmSync(repo.path('.git/objects'), { recursive: true });
      mkdirSync(repo.path('.git/objects'));
      return undefined;
    },
  },
  { name: 'a shallow clone', make: (repo) => cloneIn(repo, '--depth=1') },
  {
    name: 'a partial clone with packs of a promisor (`--filter=blob:none`)',
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
    name: '`feature.manyFiles`',
    make(repo) {
      repo.git('config', 'feature.manyFiles', 'true');
      twoFolders(repo);
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
    name: 'a chain of commit-graphs',
    make(repo) {
      for (const name of ['one', 'two']) {
        addFile(repo, name);
        repo.git('commit-graph', 'write', '--reachable', '--split=no-merge', '--changed-paths');
      }
      return undefined;
    },
  },
  {
    name: 'a pack of unreachable objects (`git repack --cruft`)',
    make(repo) {
      twoFolders(repo);
      repo.gitWith({ input: 'cruft' }, 'hash-object', '-w', '--stdin');
      repo.git('repack', '-q', '--cruft', '-d');
      return undefined;
    },
  },
  {
    name: 'a chain of multi-pack-indexes with bitmaps',
    needs: [2, 54],
    make(repo) {
      for (const name of ['one', 'two']) {
        addFile(repo, name);
        repo.git('repack', '-q', ...(name === 'one' ? ['-ad'] : []));
        repo.git('prune-packed');
        repo.git('multi-pack-index', 'write', '--incremental', '--bitmap');
      }
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
      const folder = hasTables ? '.git/refs' : '.git/refs/heads';
      for (const name of ['.DS_Store', 'desktop.ini', 'main 2', 'empty']) {
        repo.write(`${folder}/${name}`, '');
      }
      return undefined;
    },
  },
  {
    name: 'refs in tables (reftable), also with SHA-256 ids',
    needs: firstGit.tables,
    make(repo) {
      const options = ['--object-format=sha256', '--ref-format=reftable'];
      return Repo.in(repo.path('.git/other')).begin(...options);
    },
  },
  {
    name: 'refs in tables, and a linked work tree',
    needs: firstGit.tables,
    make(repo) {
      const other = Repo.in(repo.path('.git/other')).begin('--ref-format=reftable');
      other.git('worktree', 'add', '-q', '-b', 'side', 'side');
      return new Repo(other.path('side'));
    },
  },
  {
    name: 'submodules with paths by configuration (`extensions.submodulePathConfig`)',
    needs: [2, 54],
    make: (repo) => extend(repo, 'submodulePathConfig', 'true'),
  },
  {
    name: 'another index (`GIT_INDEX_FILE` in the environment, as in hooks)',
    env: { GIT_INDEX_FILE: '.git/other' },
    make(repo) {
      cpSync(repo.path('.git/index'), repo.path('.git/other'));
      return undefined;
    },
    follow: {
      run: (git) => git('reset', '-q', '--', 'm'),
      told: 'works with the index of the work tree; after a change, `git reset -q -- .memory-bank` brings the other one up to date',
    },
  },
  {
    name: 'an extension that git ignores in format version 0',
    make(repo) {
      const formats = ['--object-format=sha1', ...(hasTables ? ['--ref-format=files'] : [])];
      const other = Repo.in(repo.path('.git/other')).begin(...formats);
      extend(other, 'later', 'true', '0');
      return other;
    },
  },
  {
    name: 'an extension of version 1 in format version 0',
    make: (repo) => extend(repo, 'objectFormat', objectFormat.name, '0'),
    refused: {
      reason: 'git refuses the extension "objectformat" in format version 0',
      hint: '"git config --file config core.repositoryFormatVersion 1"',
      remedy: (repo) => set(repo, 'core.repositoryFormatVersion', '1'),
      told: '`git config --file config core.repositoryFormatVersion 1` in the git directory',
    },
  },
  {
    name: 'object ids of two formats (`extensions.compatObjectFormat`)',
    make: (repo) => extend(repo, 'compatObjectFormat', 'sha256'),
    refused: {
      reason: 'its objects have ids of a second format',
      hint: 'remove the line "compatObjectFormat" from ',
      remedy(repo) {
        repo.write(
          '.git/config',
          repo.read('.git/config').replace(/^\s*compatObjectFormat.*\n/m, ''),
        );
        return undefined;
      },
      told: 'remove the setting from the file `config` of the git directory',
    },
  },
  {
    name: 'refs in another folder (`extensions.refStorage` with `files://` or `reftable://`)',
    needs: [2, 54],
    make(repo) {
      const form = hasTables ? 'reftable' : 'files';
      const away = repo.path('.git/away');
      const parts = hasTables ? ['reftable'] : ['HEAD', 'refs', 'logs'];
      for (const part of parts) {
        cpSync(repo.path(`.git/${part}`), `${away}/${part}`, { recursive: true });
      }
      return extend(repo, 'refStorage', `${form}://${away}`);
    },
    refused: {
      reason: 'its refs are in another folder, ',
      hint: 'Copy what is in that folder into the git directory, and run "git config --file config extensions.refStorage ',
      remedy(repo) {
        cpSync(repo.path('.git/away'), repo.path('.git'), { recursive: true });
        return set(repo, 'extensions.refStorage', hasTables ? 'reftable' : 'files');
      },
      told: 'copy the folder into the git directory, then `git config --file config extensions.refStorage files` (or `reftable`) there',
    },
  },
  {
    name: 'a sparse checkout without the folder of the memory',
    make(repo) {
      twoFolders(repo);
      addFile(repo, 'm/b.md');
      repo.git('sparse-checkout', 'set', '--cone', '--sparse-index', 'a');
      return undefined;
    },
    refused: {
      reason: 'm/a.md is not in this sparse checkout',
      hint: 'Run "git sparse-checkout add m"',
      remedy(repo) {
        repo.git('sparse-checkout', 'add', 'm');
        return undefined;
      },
      told: '`git sparse-checkout add .memory-bank`',
    },
  },
  {
    name: 'refs of a later format',
    make: (repo) => extend(repo, 'refStorage', 'later'),
    refused: {
      reason: 'its refs are stored as later',
      hint: 'Update this program, or set --root to another repository.',
      told: 'a later version of this program, or `--root` with another repository',
    },
  },
  {
    name: 'object ids of a later format',
    make: (repo) => extend(repo, 'objectFormat', 'sha512'),
    refused: {
      reason: 'its object ids are sha512',
      hint: 'Update this program, or set --root to another repository.',
      told: 'a later version of this program, or `--root` with another repository',
    },
  },
  {
    name: 'an extension that is not known',
    make: (repo) => extend(repo, 'later', 'true'),
    refused: {
      reason: 'the extension "later" is not known',
      hint: 'Update this program.',
      told: 'a later version of this program',
    },
  },
  {
    name: 'objects in another folder (`GIT_OBJECT_DIRECTORY` in the environment)',
    env: elsewhere,
    make(repo) {
      // Without this folder, git sees no repository.
      mkdirSync(repo.path('.git/elsewhere'));
      repo.write('b', 'b');
      repo.gitWith({ env: elsewhere }, 'add', 'b');
      repo.gitWith({ env: elsewhere }, 'commit', '-qm', 'Add b');
      return undefined;
    },
    refused: {
      reason: 'GIT_OBJECT_DIRECTORY puts its objects in .git/elsewhere',
      hint: 'Start this program without that variable.',
      remedy(repo) {
        repo.write('.git/objects/info/alternates', `${repo.path('.git/elsewhere')}\n`);
        return undefined;
      },
      env: {},
      told: 'start the program without the variable, and name the folder in `.git/objects/info/alternates` if git has stored objects there',
    },
  },
  {
    name: 'a work tree elsewhere (`core.worktree`)',
    make(repo) {
      repo.write('elsewhere/README.md', '# A project\n');
      set(repo, 'core.worktree', repo.path('elsewhere'));
      return undefined;
    },
    refused: {
      reason: 'core.worktree puts its files in',
      hint: 'into a file .git in that folder, and start the server there.',
      remedy(repo) {
        repo.write('elsewhere/.git', `gitdir: ${repo.path('.git')}\n`);
        return new Repo(repo.path('elsewhere'));
      },
      told: 'a file `.git` with `gitdir: <git directory>` in that folder, and the server there',
    },
  },
];
