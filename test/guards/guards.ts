/** A piece of code that keeps a promise, and the test that has to fail without it. */
export interface Guard {
  /** The promise that it keeps. */
  readonly name: string;
  /** Relative to `src/`. */
  readonly file: string;
  /** The code, which occurs once in the file. */
  readonly code: string;
  /** The replacement that removes the guard. */
  readonly without: string;
  /** Relative to `test/`. */
  readonly test: string;
  /** Part of the test's full name. */
  readonly title: string;
}

function guard(
  name: string,
  [file, code, without]: readonly [file: string, code: string, without: string],
  [test, title]: readonly [test: string, title: string],
): Guard {
  return { name, file, code, without, test, title };
}

const lock = 'git/process-lock.test.ts';
const races = 'git/races.test.ts';
const power = 'git/power.test.ts';
const faults = 'git/faults.test.ts';
const repository = 'git/repository.test.ts';
const indexTime = 'git/index-time.test.ts';
const staleIndex = 'git/stale-index.test.ts';
const remote = 'git/remote.test.ts';
const workspace = 'store/workspace.test.ts';
const secrets = 'store/secrets.test.ts';
const concurrent = 'store/concurrent-changes.test.ts';
const memories = 'store/memories.test.ts';

/** Every guard of the promises, by what it guards. */
export const guards: readonly Guard[] = [
  // The process lock.
  guard(
    'a lock of a live server is not broken',
    [
      'git/locks/process-lock.ts',
      'if (!holder || !this.#isGone(holder)) return false;',
      'if (!holder) return false;',
    ],
    [lock, 'that is alive is never taken'],
  ),
  guard(
    'a lock of a dead server is broken: its process is gone',
    ['git/locks/token.ts', 'return !exists(token.pid);', 'return false;'],
    [lock, 'that is dead is taken'],
  ),
  guard(
    'a lock of a dead server is broken: its pid is another process',
    [
      'git/locks/token.ts',
      "if (token.start !== '' && start !== '') return start !== token.start;",
      '',
    ],
    [lock, 'that is dead is taken'],
  ),
  guard(
    'a lock of a process in another container is not broken',
    ['git/locks/token.ts', 'if (token.namespace !== here.namespace) return false;', ''],
    [lock, 'in another container is never taken'],
  ),
  guard(
    'a lock from before a reboot is broken',
    [
      'git/locks/token.ts',
      "return local && token.start !== '' && here.boot !== hostname();",
      'return false;',
    ],
    [lock, 'is dead if only one kernel can use the disk'],
  ),
  guard(
    'a lock on a shared disk does not count as one from before a reboot',
    ['git/locks/token.ts', 'return local && token.start', 'return token.start'],
    [lock, 'may be alive on another host'],
  ),
  guard(
    'only one of two waiters removes a dead lock',
    ['git/locks/owned-names.ts', 'if (!this.#holds(name, id)) return;', ''],
    [lock, 'during our check is kept'],
  ),
  guard(
    'a waiter recreates its own file after a cleaner removed it',
    [
      'git/locks/process-lock.ts',
      'if (!this.#disk.files.lstat(own)) await this.#disk.create(own, [bytes]);',
      'if (!ended.has(own) && ended.add(own)) await this.#disk.create(own, [bytes]);',
    ],
    [faults, 'a waiter gets the lock'],
  ),
  guard(
    'the process lock is checked',
    [
      'git/locks/process-lock.ts',
      "if (this.#tryTake('lock', token.id)) return token;",
      'return token;',
    ],
    [lock, 'that is alive is never taken'],
  ),
  guard(
    'a process does not count as the live owner of its own leftovers',
    [
      'git/locks/process-lock.ts',
      'if (names.some(({ name }) => name.endsWith(id) && !this.isAtRest(name))) this.close();',
      '',
    ],
    [lock, 'with another token if files were left behind'],
  ),

  // Git locks.
  guard(
    'a git lock of another program is waited for',
    [
      'git/locks/lock.ts',
      "if (errno(error) === 'EEXIST') return false;\n      if (errno(error) === 'ENOENT' && this.#role",
      "if (errno(error) === 'EEXIST') return true;\n      if (errno(error) === 'ENOENT' && this.#role",
    ],
    [repository, 'a lock that another program holds'],
  ),
  guard(
    'a git lock of another program is not removed when ours is released',
    [
      'git/locks/lock.ts',
      'if (this.isOurs()) this.#disk.discard(this.path);\n      this.#disk.discard(this.proof);',
      'this.#disk.discard(this.path);\n      this.#disk.discard(this.proof);',
    ],
    [faults, 'not even the index is replaced'],
  ),
  guard(
    'a git lock of another program is not written to',
    [
      'git/locks/lock.ts',
      'return this.#disk.finish(fd, pieces, time);',
      'this.#disk.files.close(fd);\n    return this.#disk.fill(this.path, pieces, time);',
    ],
    [faults, 'not even the index is replaced'],
  ),
  guard(
    'a git lock is checked again before it is renamed',
    [
      'git/locks/lock.ts',
      'commit(target: string): void {\n    this.check();',
      'commit(target: string): void {',
    ],
    [faults, 'that lock is left alone'],
  ),
  guard(
    'the locks of refs are free while the lock of the index is waited for',
    ['git/commit/mutation-locks.ts', 'for (const lock of ref.locks) lock.free();', ''],
    [races, 'which are free while another program holds it'],
  ),
  guard(
    'recovery does not remove git locks of another program',
    ['git/commit/recovery.ts', '(path) => areLinked(proof, files.lstat(path))', '() => true'],
    [races, 'locks of a person are kept'],
  ),
  guard(
    'recovery removes the git locks of a dead server',
    ['git/commit/recovery.ts', 'if (!proof || proof.links < 2) return;', 'return;'],
    [faults, 'is undone at the current path of the repository'],
  ),

  // Checks under the locks.
  guard(
    'a branch that moved meanwhile is detected',
    [
      'git/commit/mutation.ts',
      'if (!isAtHead(this.#plan, refs.head()) || !this.#isAnnounced()) return false;',
      'if (!this.#isAnnounced()) return false;',
    ],
    [races, 'that commit stays'],
  ),
  guard(
    'an index that changed meanwhile is detected',
    [
      'git/commit/mutation.ts',
      'if (indexKey(this.#site) !== this.#known.key) return undefined;',
      '',
    ],
    [races, 'it stays staged'],
  ),
  guard(
    'a git that may have read the old index goes first',
    ['git/commit/mutation.ts', 'if (this.#turn.isIndexRead?.()) throw new FileChangedError();', ''],
    [staleIndex, 'while a change holds its locks makes the change wait'],
  ),
  guard(
    'a record that a person has taken out of the index stays out of it',
    ['git/commit/stale-index.ts', 'if (index.cachedTree(folder) === undefined) return [];', ''],
    [staleIndex, 'is left alone if the user has taken the change out of it'],
  ),
  guard(
    'an edit that only the index timestamp reveals is seen',
    ['git/index/known-index.ts', '(line) => own.has(line.path) || holds(line)', '() => true'],
    [indexTime, 'is seen by git after a change'],
  ),
  guard(
    'an edit of a record before its index is written is seen',
    ['git/index/known-index.ts', 'lock.keepsTime ? Number(ticks) / 1024 : undefined', 'undefined'],
    [indexTime, 'whose index was not written yet'],
  ),
  guard(
    'a merge that began meanwhile is detected',
    ['git/commit/mutation.ts', 'checkIdle(disk.files, tree, refs);', ''],
    [races, 'a merge begins'],
  ),
  guard(
    'a file that was saved at the last moment is detected',
    [
      'git/commit/placement.ts',
      'if (!isAsSeen(disk, top, placement)) throw new FileChangedError();\n    const to',
      'const to',
    ],
    [faults, 'saves a file at the last moment'],
  ),
  guard(
    'a merge, rebase or bisect under way refuses the change',
    ['git/commit/state.ts', 'if (!found) return;', 'return;'],
    [repository, 'a bisect under way'],
  ),
  guard(
    'unmerged files refuse the change',
    ['git/commit/state.ts', 'if (!unmerged) return;', 'return;'],
    [races, 'unmerged files'],
  ),
  guard(
    'an unknown repository format is refused',
    ['git/commit/state.ts', 'if (!objectFormats.has(objects)) {', 'if (false) {'],
    [repository, 'object ids of an unknown kind'],
  ),
  guard(
    'an ignored path is refused',
    ['git/commit/prepare.ts', 'checkIgnored(site, one, known);', ';'],
    [repository, 'an ignored path'],
  ),
  guard(
    'a lost ref is not an unborn branch',
    [
      'git/refs/file-refs.ts',
      "return loose === undefined && ref.startsWith('refs/')",
      "return !loose && ref.startsWith('refs/')",
    ],
    [faults, 'an empty ref is not an unborn branch'],
  ),
  guard(
    'a git directory is recognised as such',
    ['git/repository/discover.ts', 'if (isGitDir(files, folder)) {', 'if (!folder) {'],
    ['git/repository.test.ts', 'a bare repository'],
  ),
  guard(
    'a branch name cannot escape from the refs',
    ['git/refs/loose-refs.ts', '&& !refused.test(name)', ''],
    ['git/repository.test.ts', 'a HEAD that is not the name of a branch'],
  ),
  guard(
    'a repository without HEAD is refused',
    [
      'git/commit/create-repository.ts',
      'checkEmpty(disk, gitDir);\n  const places',
      'const places',
    ],
    [faults, 'that has lost its HEAD'],
  ),
  guard(
    'a change waits while a user stages',
    [
      'git/commit/commit-attempts.ts',
      'const before = await waits.wait();',
      'const before = undefined;',
    ],
    [repository, 'is waited for until it is committed'],
  ),

  guard(
    'a repository that was moved away is not recreated',
    [
      'store/records/memory-home.ts',
      "if (this.#tree) throw missingRepository(join(this.#tree.top, '.git'));",
      '',
    ],
    [workspace, 'moved away'],
  ),
  guard(
    'a git directory that disappears at the last moment is not recreated',
    [
      'git/locks/queue.ts',
      'if (!create && !this.#disk.files.lstat(commonDir)) throw missingRepository(commonDir);',
      '',
    ],
    [races, 'moved away at the last moment'],
  ),
  guard(
    'an enclosing repository does not replace a missing one',
    [
      'store/records/memory-home.ts',
      'if (this.#tree && !contains(this.#tree.top, tree.top)) return undefined;',
      '',
    ],
    [workspace, 'below another one'],
  ),

  // The work of users.
  guard(
    'an edit by hand is committed first',
    [
      'git/commit/commit-plan.ts',
      "if (edited.length > 0) builder.commit(edited, describeEdit('edit by hand', edited));",
      '',
    ],
    [repository, 'is committed first, separately'],
  ),
  guard(
    'a staged version is committed first',
    ['git/commit/commit-plan.ts', 'staged.push({ path, entry: { mode, oid: indexed.oid } });', ''],
    [repository, 'is committed first, separately'],
  ),

  guard(
    'a change does not starve next to a fast user',
    ['git/commit/commit-attempts.ts', 'if (attempt >= freeAttempts) {', 'if (attempt < 0) {'],
    [races, 'does not starve'],
  ),
  guard(
    'git meets no lock for a plan that is stale',
    ['git/commit/commit-attempts.ts', '!isDue && this.#holdsStill(prepared, seen)', '!isDue'],
    [races, 'git meets no lock'],
  ),

  // Atomicity and durability.
  guard(
    'the journal is written before the files change',
    [
      'git/commit/mutation.ts',
      'await together([prepared.stored, mutation.announce()]);',
      'await together([prepared.stored]);',
    ],
    [faults, 'is undone at the current path of the repository'],
  ),
  guard(
    'an abandoned change is undone',
    [
      'git/commit/recovery.ts',
      "if (side !== 'elsewhere') await place(site, journal, top, side);",
      '',
    ],
    [faults, 'is undone at the current path of the repository'],
  ),
  guard(
    'the index of a committed change is completed',
    [
      'git/commit/recovery.ts',
      "if (side !== 'elsewhere') await fixIndex(site, token, journal, top, side);",
      '',
    ],
    [faults, 'is finished in the index'],
  ),
  guard(
    'the index is renamed before the ref',
    [
      'git/commit/mutation.ts',
      'this.#moveIndex(locks.index);\n      await ref.place();',
      'await ref.place();\n      this.#moveIndex(locks.index);',
    ],
    [races, 'as soon as it finds the change in HEAD'],
  ),
  guard(
    'index entries are restored if the ref went elsewhere',
    [
      'git/commit/recovery.ts',
      "await fixIndex(site, token, { ...journal, files }, top, 'before');",
      '',
    ],
    [races, 'a lost change leaves no staged line'],
  ),
  guard(
    'an old lock proof does not prevent restoring the index',
    ['git/commit/recovery.ts', 'disk.discard(proofPath(folder, role, token.id));', ''],
    [faults, 'a failure restores the index'],
  ),
  guard(
    'a journal cannot name files outside the memory',
    [
      'git/commit/journal.ts',
      "if (parts.some((part) => /^(?:|\\.|\\.\\.|\\.git)$/i.test(part))) throw new TypeError('a way out');",
      '',
    ],
    [faults, 'is put aside and not executed'],
  ),
  guard(
    'an unreadable journal is set aside',
    [
      'git/commit/recovery.ts',
      'if (!(error instanceof MemoryError)) throw error;\n    const aside',
      'throw error;\n    const aside',
    ],
    [faults, 'is put aside and not executed'],
  ),
  guard(
    'new files are durable',
    [
      'git/disk/disk.ts',
      "new Promise(setImmediate);\n        }\n        await this.sync(fd, 'data');",
      'new Promise(setImmediate);\n        }',
    ],
    [power, 'a power cut'],
  ),
  guard(
    'index and ref are durable',
    [
      'git/disk/disk.ts',
      "await this.sync(fd, 'data');\n      return files.fstat(fd);",
      'return files.fstat(fd);',
    ],
    [power, 'a power cut'],
  ),
  guard(
    'reflogs are durable',
    ['git/refs/reflog.ts', 'disk.flush(files), ', ''],
    [power, 'a power cut'],
  ),
  guard(
    'folder entries are durable',
    [
      'git/disk/disk.ts',
      "if (this.durability === 'relaxed') return;\n    const unknown",
      'if (this.durability) return;\n    const unknown',
    ],
    [power, 'a power cut'],
  ),
  guard(
    'git attributes are durable before a tree that contains them',
    ['git/commit/prepare.ts', "basename(path) === '.gitattributes'", 'false'],
    [repository, 'git attributes on the medium before a tree'],
  ),
  guard(
    "the journal's folder entry is durable before the files change",
    ['git/commit/journal.ts', 'await disk.settle([folder]);', ''],
    [power, 'a power cut'],
  ),
  guard(
    'the proofs of the locks are durable before the locks',
    ['git/commit/mutation.ts', 'disk.settle([folder, ...unsettled]),', 'disk.settle(unsettled),'],
    [power, 'a power cut'],
  ),
  guard(
    'a busy process yields to waiting ones',
    ['git/locks/process-lock.ts', 'if (rest > 0) await sleep(rest);', ''],
    [lock, 'for waiters'],
  ),
  guard(
    'no signing program of the repository is run',
    ['git/commit/signing.ts', 'program: config.own(', 'program: config.get('],
    ['git/signing.test.ts', 'a program that the repository names is not run'],
  ),

  // Files from other writers.
  guard(
    'links are reported as damaged',
    ['git/disk/folder.ts', "if (stat?.kind === 'link') throw isLink(at, path);", ''],
    [workspace, 'fails alone and by name'],
  ),
  guard(
    'pipes and devices are not read',
    ['git/disk/folder.ts', "if (stat?.kind !== 'other') return;", 'return;'],
    ['hostile/links.test.ts', 'a pipe'],
  ),
  guard(
    'opening a file does not follow links',
    ['git/disk/open-plain.ts', 'withoutWaiting | noFollow', 'withoutWaiting'],
    ['git/files.test.ts', 'is not read'],
  ),
  guard(
    'a pipe or device is not read instead of a file of git or of a client',
    [
      'git/disk/node-files.ts',
      "if (!stat.isFile()) throw refusal('EFTYPE', 'is not a regular file', path);",
      '',
    ],
    ['git/files.test.ts', 'reads no pipe'],
  ),
  guard(
    'a link that leads out of the project is refused',
    [
      'git/repository/enclosure.ts',
      'if (!contains(this.root, target) || isOfGit(this.root, target)) {',
      'if (this.root === target) {',
    ],
    ['git/enclosure.test.ts', 'is refused by the name'],
  ),
  guard(
    'the folder of a plugin is not the project',
    ['app/session/root.ts', "if (source === 'cwd') await refusePluginFolder(input, probe);", ''],
    ['app/plugin-folder.test.ts', 'is not the project'],
  ),
  guard(
    'a record that changed within one clock tick is read again',
    [
      'store/records/folder-scan.ts',
      'const current = known?.settled && sameStat(known.stat, loaded.stat);',
      'const current = known && sameStat(known.stat, loaded.stat);',
    ],
    [workspace, 'has ticked a search finds what was changed'],
  ),
  guard(
    'a record that changed within one clock tick is indexed again',
    [
      'store/records/record-cache.ts',
      '!isSame(known, record)',
      '!sameStat(known.stat, record.stat)',
    ],
    [workspace, 'has ticked a search finds what was changed'],
  ),
  guard(
    'a saved index does not hide a record that was read before it',
    [
      'store/records/record-cache.ts',
      'if (before && (!settled || !sameStat(stat, before))) changed.push(path);',
      '',
    ],
    ['store/saved-index.test.ts', 'read before its first search'],
  ),
  guard(
    'a section of a saved index with a wrong checksum is not used',
    ['store/derived/section-file.ts', 'if (crc32(bytes) !== sum) return undefined;', ''],
    ['store/saved-index.test.ts', 'cut or has other bytes'],
  ),
  guard(
    'a folder that changed within one clock tick is listed again',
    [
      'store/records/folder-scan.ts',
      'const current = known?.settled && sameStat(known.stat, stat);',
      'const current = known && sameStat(known.stat, stat);',
    ],
    [workspace, 'has ticked a listing finds what was added'],
  ),
  guard(
    'a record in a new folder is searched at once',
    [
      'store/records/record-cache.ts',
      'if (this.ownedBy(type).add(path)) this.#announce([path]);',
      'this.ownedBy(type).add(path);',
    ],
    ['property/next-read.test.ts', 'on disk'],
  ),
  guard(
    'a file that was too large for the index is indexed once it is smaller',
    [
      'store/records/record-cache.ts',
      'if (!this.get(record.path)) this.#records.set(record.path, record);',
      '',
    ],
    ['hostile/volume.test.ts', 'until there is room'],
  ),
  guard(
    'the current file of several with the same key is found',
    [
      'store/records/record-cache.ts',
      'changed ? [record.path, ...twins] : twins',
      'changed ? [record.path] : []',
    ],
    [workspace, 'counts among several files of the same key'],
  ),
  guard(
    'a damaged file hides no other file',
    [
      'store/records/record-file.ts',
      'if (!(error instanceof MemoryError)) throw error;\n    return { ...failed',
      'throw error;\n    return { ...failed',
    ],
    [workspace, 'fails alone and by name'],
  ),
  guard(
    'a damaged file is never removed',
    [
      'store/records/transaction.ts',
      'if (existing?.error) throw existing.error;\n    const path = earlier?.path ?? existing?.path;',
      'const path = earlier?.path ?? existing?.path;',
    ],
    [workspace, 'fails alone and by name'],
  ),
  guard(
    'a damaged file is never overwritten',
    [
      'store/records/transaction.ts',
      '    if (existing?.error) throw existing.error;\n    const removed',
      '    const removed',
    ],
    [workspace, 'fails alone and by name'],
  ),
  guard(
    'bytes that are not UTF-8 are reported',
    ['store/records/record-file.ts', 'fatal: true, ignoreBOM', 'fatal: false, ignoreBOM'],
    [workspace, 'fails alone and by name'],
  ),
  guard(
    'a memory of a later format is read and not written',
    ['store/records/memory-format.ts', 'if (format <= formatVersion) return;', 'return;'],
    [workspace, 'of a later format is read, and not written'],
  ),
  guard(
    'a setting that restricts keeps older programs from writing',
    ['store/records/memory-config.ts', '  review: true,', '  review: false,'],
    [workspace, 'raises the format with the next change'],
  ),
  guard(
    'YAML aliases are bounded',
    [
      'core/yaml/foreign.ts',
      'if (++this.#values > maxYamlMarks) throw',
      'if (++this.#values < 0) throw',
    ],
    ['unit/yaml.test.ts', 'laughs'],
  ),
  guard(
    'YAML that is slow to parse is bounded',
    ['core/yaml/foreign.ts', '    checkBounds(text);\n', ''],
    ['unit/yaml.test.ts', '100,000'],
  ),
  guard(
    'globs are bounded',
    [
      'store/modes/access.ts',
      'if (expanded.length > maxPatterns) {',
      'if (expanded.length > 1e9) {',
    ],
    ['unit/store/access.test.ts', 'limited in length and number'],
  ),
  guard(
    'the depth of a record is bounded',
    ['store/records/transaction.ts', 'if (folders > maxDepth) {', 'if (false) {'],
    ['hostile/sizes.test.ts', 'below 33 folders'],
  ),
  guard(
    'the size of a record is bounded',
    ['store/records/transaction.ts', 'if (size > maxRecordBytes) {', 'if (false) {'],
    ['hostile/sizes.test.ts', '10 MB of text are refused'],
  ),

  // Input of callers.
  guard(
    'names cannot escape from the folder',
    ['core/names/file-name.ts', "if (isPathOut(name.normalize('NFKC'))) {", 'if (false) {'],
    ['unit/file-name.test.ts', ''],
  ),
  guard(
    'names cannot reach .git',
    ['core/names/file-name.ts', 'if (isGit(segment)) return \'must not lead into ".git"\';', ''],
    ['unit/file-name.test.ts', ''],
  ),
  guard(
    'names cannot be Windows devices',
    ['core/names/file-name.ts', 'if (device.test(segment)) return', 'if (false) return'],
    ['unit/file-name.test.ts', ''],
  ),
  guard(
    'subjects and trailers cannot be forged',
    [
      'store/records/message.ts',
      "return text.replace(/[\\s\\p{Cc}\\p{Cf}\\u2028\\u2029]+/gu, ' ').trim();",
      'return text.trim();',
    ],
    [workspace, 'is one commit that says who'],
  ),
  guard(
    'a reason cannot end the message',
    ['store/records/message.ts', '/^(?:---|diff -|Index: )/gm', '/^never/gm'],
    [workspace, 'is one commit that says who'],
  ),
  guard(
    'the write rules of a mode are enforced',
    [
      'store/records/transaction.ts',
      "    if (!this.access.mayWrite(path)) throw forbidden('change', path, this.access);\n    const before",
      '    const before',
    ],
    [workspace, 'apply to reading, listing'],
  ),
  guard(
    'a mode hides the uncommitted changes of other sessions',
    [
      'store/records/transaction.ts',
      'if (!value || !this.mayRead(path)) continue;',
      'if (!value) continue;',
    ],
    [concurrent, 'another session is about to commit'],
  ),
  guard(
    'a change that fails leaves nothing to the changes after it',
    ['store/records/change-round.ts', 'earlier = draft ?? earlier;', 'earlier = draft;'],
    [concurrent, 'a change sees the changes before it'],
  ),
  guard(
    'the file system root, the home directory and the folder of Windows are refused',
    ['app/session/root.ts', 'if (what === undefined) return;', 'return;'],
    ['unit/root.test.ts', 'what is refused'],
  ),
  guard(
    'stdout contains only the protocol',
    [
      'server/mcp/stdio.ts',
      "Object.defineProperty(process, 'stdout', { value: stderr, configurable: true, enumerable: true });",
      '',
    ],
    ['contract/stdio.test.ts', 'stays off the wire'],
  ),
  guard(
    'lines that are too long are refused',
    [
      'server/mcp/stdio.ts',
      'const tooLong = this.#bytes > maxMessageBytes;',
      'const tooLong = false;',
    ],
    ['unit/stdio.test.ts', 'a line that is too long'],
  ),
  guard(
    'terminal control characters are escaped',
    ['core/values/hidden-characters.ts', 'if (character === undefined) continue;', 'continue;'],
    ['contract/cli-people.test.ts', 'printable text'],
  ),

  // Credentials.
  guard(
    'credentials in a change are found',
    ['store/records/change-plan.ts', 'guard.checkChange(edits, provenance, message, typeOf);', ''],
    [secrets, 'in a field of a new record'],
  ),
  guard(
    'credentials in an edit by hand are found',
    ['store/records/memory-folder.ts', 'guard.checkEdit(...edit)', 'undefined'],
    [secrets, 'is not committed with an edit by hand'],
  ),
  guard(
    'credentials in the name of a file are found',
    [
      'store/secrets/guard.ts',
      "{ text: path, before: () => known, name: 'the name of the file' },",
      '',
    ],
    ['hostile/secrets.test.ts', 'and the refusal says so'],
  ),
  guard(
    'credentials in the name of a new folder are found',
    [
      'app/session/session-workspace.ts',
      "if (create) (await import('../../store/secrets/guard.ts')).checkNewFolder(target);",
      '',
    ],
    ['hostile/secrets.test.ts', 'name of a folder'],
  ),
  guard(
    'credentials in a reason are found',
    ['store/secrets/guard.ts', "{ text: why.reason ?? '', before, name: 'the reason' },", ''],
    [secrets, 'in the reason'],
  ),
  guard(
    'credentials in the final commit message are found',
    ['store/secrets/guard.ts', "{ text: message, before, name: 'the message of the commit' },", ''],
    [secrets, 'in the message of the commit'],
  ),
  guard(
    'credentials that only the title reveals are found',
    ['store/secrets/guard.ts', 'if (record) all.push(', 'if (false) all.push('],
    [secrets, 'that only the title'],
  ),
  guard(
    'credentials behind invisible and encoded characters are found',
    ['store/secrets/scan.ts', 'if (!plain) return found;', 'if (!plain || plain) return found;'],
    ['unit/secrets/scan.test.ts', 'is found behind'],
  ),
  guard(
    'errors do not repeat credentials',
    ['app/session/call-report.ts', 'return redactError(error);', 'return error;'],
    ['hostile/secrets.test.ts', 'is not repeated'],
  ),

  // HTTP.
  guard(
    'a page whose DNS name was rebound is refused',
    ['server/http/server/guards.ts', 'if (!isServed(given)) {', 'if (false) {'],
    ['contract/http-auth.test.ts', 'is refused'],
  ),
  guard(
    'a page of another origin is refused',
    [
      'server/http/server/guards.ts',
      'if (origin !== undefined && !origins',
      'if (false && !origins',
    ],
    ['contract/http-auth.test.ts', 'is refused, and nothing is written'],
  ),

  // Remotes.
  guard(
    'a remote: fetched objects are checked before they are kept',
    ['git/remote/program-remote.ts', 'inspect(objects, tip);', ''],
    [remote, 'and nothing if that fails'],
  ),
  guard(
    'a remote: the size of a fetch is bounded',
    ['git/remote/program.ts', 'if (error) end(error);', ''],
    [remote, 'of more bytes than its limit'],
  ),
  guard(
    'a remote: a hanging git is stopped',
    ['git/remote/program.ts', 'after(limit, () => end(tooSlow(limit)));', ''],
    [remote, 'does not answer'],
  ),
  guard(
    'a remote: no program prompts',
    [
      'git/remote/program-remote.ts',
      'return !/^(?:SSH_ASKPASS|MEMORY_BANK_)/.test(name);',
      'return true;',
    ],
    [remote, 'ssh ask nothing'],
  ),
  guard(
    'a remote: an address is rewritten only once',
    ['git/remote/program-remote.ts', 'tpushInsteadOf', 'tnoRule'],
    [remote, 'a second time'],
  ),
  guard(
    'a remote: program settings of the repository are ignored',
    [
      'git/remote/program-remote.ts',
      "'core.hooksPath=/dev/null',\n  'core.fsmonitor=false',\n  'core.alternateRefsCommand=true',\n  'core.fsync=all',",
      "'core.fsync=all',",
    ],
    ['hostile/programs.test.ts', 'names is run'],
  ),
  guard(
    'a remote: errors contain no login',
    ['git/remote/refusal.ts', 'return withoutLogins(text)', 'return text'],
    [remote, 'names neither the user'],
  ),
  guard(
    'a remote: the size of a record is bounded',
    ['store/sync/joining.ts', 'checkSizes(odb, [...inside, ...outside], folder);', ''],
    ['contract/sync.test.ts', 'over a folder a record that is too large'],
  ),
  guard(
    'names that some file systems do not tell apart are refused by a sync',
    ['store/sync/joining.ts', 'checkTwins(work, changes);', ''],
    ['contract/sync.test.ts', 'over a folder names that some file systems'],
  ),
  guard(
    'another site cannot use the session cookie',
    [
      'server/http/server/guards.ts',
      'if (foreign && caller.bySession',
      'if (false && caller.bySession',
    ],
    ['contract/http-auth.test.ts', 'cannot use the session cookie'],
  ),
  guard(
    'an access token is for this server only',
    ['server/http/auth/access-tokens.ts', 'audience: [...audiences],', ''],
    ['contract/http-oauth.test.ts', 'for another audience is refused'],
  ),
  guard(
    'an access token allows nothing beyond its scopes',
    [
      'server/http/auth/auth.ts',
      'if (caller.may(level, project)) return;',
      'if (caller.may(level, project) || level) return;',
    ],
    ['contract/http-oauth.test.ts', 'needs the scope of what it does'],
  ),
  guard(
    'the cookie of a page is not valid without the secret of the page',
    [
      'server/http/auth/login-sessions.ts',
      'if (secret && !timingSafeEqual(secret, digest(sent))) return undefined;',
      '',
    ],
    ['contract/http-auth.test.ts', 'is valid with the secret of the page only'],
  ),
  guard(
    'a key of an agent does not decide on reviews',
    ['server/http/auth/auth.ts', "isPerson || scope !== 'memory:review'", 'true'],
    ['contract/http-reviews.test.ts', 'cannot decide on a review'],
  ),
  guard(
    'an agent cannot take a name of this program',
    ['core/memory/author-name.ts', 'return ownName.test(given)', 'return false'],
    ['unit/author-name.test.ts', 'gets a prefix'],
  ),
  guard(
    'a session that is limited to a mode stays in it',
    [
      'store/modes/session-modes.ts',
      'if (onlyMode !== undefined && name !== onlyMode) {',
      'if (name === undefined) {',
    ],
    ['contract/http-oauth.test.ts', 'may be limited to a mode'],
  ),
  guard(
    'a session handle works for its caller only',
    [
      'server/mcp/session-handles.ts',
      'return timingSafeEqual(bytes.subarray(randomBytesOfHandle), this.#code(random, caller));',
      'return random.length > 0 || caller === "";',
    ],
    ['unit/session-handles.test.ts', 'a handle of another caller'],
  ),
  guard(
    'a session handle expires',
    [
      'server/mcp/session-handles.ts',
      'if (used > oldest) return;',
      'if (used > oldest - life) return;',
    ],
    ['unit/session-handles.test.ts', 'until an hour after its last use'],
  ),
  guard(
    'the headers of an MCP request repeat its body',
    ['server/http/sessions/modern-mcp.ts', 'checkHeaders(request, asked);', ''],
    ['contract/http-modern.test.ts', 'is 400 -32020'],
  ),
  guard(
    'no project is chosen before the client has named its roots',
    [
      'server/mcp/process-session.ts',
      "if (asks) throw new MemoryError('no_project', 'The client has not named its roots.');",
      '',
    ],
    ['unit/modern-stdio.test.ts', 'are asked for where they decide'],
  ),
  guard(
    'a host in the request target is checked',
    [
      'server/http/server/guards.ts',
      'for (const given of [host, targetHost(url) ?? host])',
      'for (const given of [host])',
    ],
    ['contract/http-input.test.ts', 'whatever its Host'],
  ),
  guard(
    'a body after a refusal is not read',
    ['server/http/http.ts', "server.on('checkContinue', onRequest);", ''],
    ['contract/http-input.test.ts', 'is refused without permission'],
  ),
  guard(
    'a client that never reads is disconnected',
    ['server/http/server/backlog.ts', 'this.setTimeout(readTimeout)', 'this.setTimeout(0)'],
    ['contract/http-backlog.test.ts', 'is cut off in the end'],
  ),
  guard(
    'one caller cannot use up all MCP sessions',
    ['server/http/sessions/mcp-sessions.ts', 'const maxShare = 50;', 'const maxShare = 200;'],
    ['contract/http-mcp.test.ts', 'of one caller leave room'],
  ),
  guard(
    'concurrent reads are bounded',
    ['server/http/server/backlog.ts', 'if (this.#reading >= this.#allowed) break;', ''],
    ['contract/http-backlog.test.ts', 'a small answer does not wait'],
  ),
  guard(
    'calls that begin while too many answers are unread',
    [
      'server/http/server/backlog.ts',
      'if (own <= maxStreamBytes && all <= limit) return;',
      'if (own >= 0) return;',
    ],
    ['contract/http-backlog.test.ts', 'do not begin while too many answers are unread'],
  ),
  guard(
    'many clients that connect at once',
    [
      'server/http/http.ts',
      'server.listen({ host, port, backlog: maxConnections });',
      'server.listen({ host, port });',
    ],
    ['contract/http-backlog.test.ts', 'many clients can connect at once'],
  ),
  guard(
    'idle connections at the limit',
    [
      'server/http/server/connections.ts',
      'if (this.#open.size > this.#limit) this.#makeRoom(socket);',
      '',
    ],
    ['contract/http-limits.test.ts', 'idle connections of one address'],
  ),

  // The work of a person who commits.
  guard(
    'a change waits for a commit whose hook runs',
    [
      'git/commit/commit-watch.ts',
      'const begun = Math.max(written, file.tree === undefined ? 0 : staged);',
      'const begun = written;',
    ],
    [repository, 'includes a commit of git during a hook'],
  ),
  guard(
    'a change waits for a commit whose editor is open',
    [
      'git/commit/commit-watch.ts',
      'const begun = Math.max(written, file.tree === undefined ? 0 : staged);',
      'const begun = staged;',
    ],
    [repository, 'includes a commit of git during an editor'],
  ),
  guard(
    'a change waits for a git process without traces',
    [
      'git/commit/commit-watch.ts',
      'if (this.#outlastedGits.has(git.id)) return false;',
      'return false;',
    ],
    [repository, 'with --amend is waited for, which is reported'],
  ),
  // Memories of other repositories.
  guard(
    'a fetched memory is proved to be that of the pinned commit',
    [
      'store/memories/receipt.ts',
      "if (objectId('commit', text, odb.format) !== commit) return undefined;",
      '',
    ],
    [memories, 'the proof of another commit, with its memory'],
  ),
  guard(
    'the folder of a fetched memory is proved to be that of the commit',
    [
      'store/memories/receipt.ts',
      'if (files.get(entries.memory)?.oid !== tree) return undefined;',
      "tree = files.get(entries.memory)?.oid ?? '';",
    ],
    [memories, 'the proof of the commit, and another memory'],
  ),
  guard(
    'a record of others with a credential is not shown',
    [
      'store/memories/foreign-memory.ts',
      'if (found.withheld) throw withheld(found.record.path);',
      '',
    ],
    [memories, 'a record with a credential is not shown'],
  ),
  guard(
    'a sync does not bring back commits that the remote has dropped',
    ['store/sync/synchronize.ts', 'if (!dropped) return;', 'return;'],
    ['faults/sample.test.ts', 'by a remote that dies, lies or is rewritten'],
  ),
];
