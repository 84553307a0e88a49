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
const remote = 'git/remote.test.ts';
const workspace = 'store/workspace.test.ts';
const secrets = 'store/secrets.test.ts';

/** Every guard of the promises, by what it guards. */
export const guards: readonly Guard[] = [
  // Locks of servers.
  guard(
    "a living server's lock is not taken",
    [
      'git/locks/process-lock.ts',
      'if (!holder || !this.#isGone(holder)) return false;',
      'if (!holder) return false;',
    ],
    [lock, 'that lives is never taken'],
  ),
  guard(
    "a dead server's lock is taken: no such process",
    ['git/locks/token.ts', 'return !exists(token.pid);', 'return false;'],
    [lock, 'that is gone is taken'],
  ),
  guard(
    "a dead server's lock is taken: another process has its number",
    [
      'git/locks/token.ts',
      "if (token.start !== '' && start !== '') return start !== token.start;",
      '',
    ],
    [lock, 'that is gone is taken'],
  ),
  guard(
    "a lock of another container's process is not taken",
    ['git/locks/token.ts', 'if (token.namespace !== here.namespace) return false;', ''],
    [lock, 'in another container is never taken'],
  ),
  guard(
    'a lock from before a restart is taken',
    [
      'git/locks/token.ts',
      "return local && token.start !== '' && here.boot !== hostname();",
      'return false;',
    ],
    [lock, 'is dead where one kernel has the disk'],
  ),
  guard(
    'a lock on a shared disk is not taken for one from before a restart',
    ['git/locks/token.ts', 'return local && token.start', 'return token.start'],
    [lock, 'may be alive on another host'],
  ),
  guard(
    'of two that find a lock dead, one removes it',
    [
      'git/locks/process-lock.ts',
      'if (this.#read(name)?.id === holder.id) this.#disk.discard(this.#path(name));',
      'this.#disk.discard(this.#path(name));',
    ],
    [lock, 'place while we look stays there'],
  ),
  guard(
    'who waits makes his own file again when it was swept',
    [
      'git/locks/process-lock.ts',
      'if (!this.#disk.files.lstat(own)) await this.#disk.create(own, [bytes]);',
      'if (!ended.has(own) && ended.add(own)) await this.#disk.create(own, [bytes]);',
    ],
    [faults, 'who waits for the lock gets it'],
  ),
  guard(
    'the process lock is taken at all',
    ['git/locks/process-lock.ts', "if (this.#tryTake('lock', own)) return token;", 'return token;'],
    [lock, 'that lives is never taken'],
  ),
  guard(
    'who has left something behind does not stand in the way of cleaning it up',
    [
      'git/locks/process-lock.ts',
      'if (names.some(({ name }) => name.endsWith(id) && !this.isAtRest(name))) this.close();',
      '',
    ],
    [lock, 'with another token when something was left behind'],
  ),

  // Locks of git.
  guard(
    "another's lock of git is waited for",
    [
      'git/locks/lock.ts',
      "if (errno(error) === 'EEXIST') return false;\n      if (errno(error) === 'ENOENT' && role",
      "if (errno(error) === 'EEXIST') return true;\n      if (errno(error) === 'ENOENT' && role",
    ],
    [repository, 'a lock that another program holds'],
  ),
  guard(
    "another's lock of git is not removed when ours is let go",
    [
      'git/locks/lock.ts',
      'if (this.isOurs()) this.#disk.discard(this.path);',
      'this.#disk.discard(this.path);',
    ],
    [faults, 'his lock is left alone'],
  ),
  guard(
    "another's lock of git is not written to",
    [
      'git/locks/lock.ts',
      'return this.#disk.finish(fd, pieces, time);',
      'this.#disk.files.close(fd);\n    return this.#disk.fill(this.path, pieces, time);',
    ],
    [faults, 'his lock is left alone'],
  ),
  guard(
    'the locks are looked at once more before the ref moves',
    ['git/commit/mutation.ts', 'for (const lock of all(locks)) lock.check();', ''],
    [faults, 'his lock is left alone'],
  ),
  guard(
    "another's lock of git is not removed in a dead server's place",
    ['git/commit/recovery.ts', 'if (files.lstat(path)?.ino === proof.ino) site', 'site'],
    [races, 'locks of a person stay'],
  ),
  guard(
    "a dead server's locks of git are removed",
    [
      'git/commit/recovery.ts',
      "for (const role of ['index', 'head', 'ref'] as const) removeLock(site, role, id);",
      '',
    ],
    [faults, 'is undone where the repository lies by then'],
  ),

  // What is seen under the locks.
  guard(
    'a branch that was moved meanwhile',
    [
      'git/commit/mutation.ts',
      'if (head.ref !== plan.head.ref || head.oid !== plan.head.oid) return false;',
      '',
    ],
    [races, 'his commit stays'],
  ),
  guard(
    'an index that was changed meanwhile',
    ['git/commit/mutation.ts', 'if (indexKey(site) !== known.key) return false;', ''],
    [races, 'it stays staged'],
  ),
  guard(
    'an edit that only the time of the index would show',
    ['git/index/known-index.ts', '(line) => own.has(line.path) || holds(line)', '() => true'],
    [indexTime, 'is seen by git after a change'],
  ),
  guard(
    'an edit of a record before its index is written',
    ['git/index/known-index.ts', 'written.pieces(), Number(ticks) / 1024', 'written.pieces()'],
    [indexTime, 'whose index was not written yet'],
  ),
  guard(
    'a merge that began meanwhile',
    ['git/commit/mutation.ts', 'checkIdle(site.disk.files, site.tree.gitDir);', ''],
    [races, 'a merge begins'],
  ),
  guard(
    'a file that was saved at the last moment',
    [
      'git/commit/placement.ts',
      'if (!isAsSeen(disk, top, placement)) throw new FileChangedError();\n    const to',
      'const to',
    ],
    [faults, 'saves a file at the last moment'],
  ),
  guard(
    'a merge, rebase or bisect under way',
    ['git/commit/state.ts', 'if (!found) return;', 'return;'],
    [repository, 'a bisect under way'],
  ),
  guard(
    'unmerged files',
    ['git/commit/state.ts', 'if (!unmerged) return;', 'return;'],
    [races, 'unmerged files'],
  ),
  guard(
    'a format of repository that is not known',
    ['git/commit/state.ts', "if (objects !== 'sha1') {", 'if (false) {'],
    [repository, 'sha256'],
  ),
  guard(
    'an ignored path',
    ['git/commit/repository.ts', 'this.#checkIgnored(proposal, known);', ';'],
    [repository, 'an ignored path'],
  ),
  guard(
    'a ref that was lost',
    [
      'git/refs/refs.ts',
      'if (text === undefined) return { ref, oid: this.#packedRefs().get(ref) };',
      'if (!text) return { ref, oid: this.#packedRefs().get(ref) };',
    ],
    [faults, 'an empty ref is no unborn branch'],
  ),
  guard(
    'a git directory taken for a folder outside any repository',
    ['git/repository/discover.ts', 'if (isGitDir(files, folder)) {', 'if (!folder) {'],
    ['git/repository.test.ts', 'a bare repository'],
  ),
  guard(
    'a name of a branch that leads out of the refs',
    ['git/refs/refs.ts', '&& !refused.test(name)', ''],
    ['git/repository.test.ts', 'HEAD at what is no name of a branch'],
  ),
  guard(
    'a repository without its HEAD',
    [
      'git/repository/create-repository.ts',
      'checkEmpty(disk, gitDir);\n  const places',
      'const places',
    ],
    [faults, 'without its HEAD'],
  ),
  guard(
    "a person's work in the index",
    ['git/commit/repository.ts', 'await waits.wait();', ''],
    [repository, 'is waited for until it is committed'],
  ),

  guard(
    'a repository that was moved away is not made again',
    [
      'store/records/memory-folder.ts',
      "if (this.#tree) throw missingRepository(join(this.#tree.top, '.git'));",
      '',
    ],
    [workspace, 'moved away'],
  ),
  guard(
    'a git directory that goes at the last moment is not made again',
    [
      'git/locks/queue.ts',
      'if (!create && !this.#disk.files.lstat(commonDir)) throw missingRepository(commonDir);',
      '',
    ],
    [races, 'moved away at the last moment'],
  ),
  guard(
    'a repository around a missing one does not take its place',
    [
      'store/records/memory-folder.ts',
      "if (this.#tree && relative(this.#tree.top, tree.top).startsWith('..')) return undefined;",
      '',
    ],
    [workspace, 'below another one'],
  ),

  // A person's work.
  guard(
    'an edit by hand is committed first',
    [
      'git/commit/commit-plan.ts',
      "if (edited.length > 0) builder.commit(edited, describeEdit('edit by hand', edited));",
      '',
    ],
    [repository, 'becomes a commit of its own first'],
  ),
  guard(
    'a staged version is committed first',
    ['git/commit/commit-plan.ts', 'staged.push({ path, entry: { mode, oid: indexed.oid } });', ''],
    [repository, 'becomes a commit of its own first'],
  ),

  guard(
    'starving beside a person who is quick',
    [
      'git/commit/repository.ts',
      'if (first || !areHeld(locks) || this.#refs.head().ref !== ref) return first;',
      'if (first || locks) return first;',
    ],
    [races, 'does not starve'],
  ),

  // Wholly there or wholly absent.
  guard(
    'the journal is written before the files change',
    ['git/commit/mutation.ts', 'await together([stored, mutation.announce()]);', 'await stored;'],
    [faults, 'is undone where the repository lies by then'],
  ),
  guard(
    'a change that was given up is undone',
    ['git/commit/recovery.ts', "if (side === 'before') await putBack(site, journal, top);", ''],
    [faults, 'is undone where the repository lies by then'],
  ),
  guard(
    'a change that has happened is finished in the index',
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
      'this.#moveIndex(locks);\n      this.#moveRef(locks);',
      'this.#moveRef(locks);\n      this.#moveIndex(locks);',
    ],
    [races, 'as soon as it finds the change in HEAD'],
  ),
  guard(
    'index lines are put back when the ref went elsewhere',
    [
      'git/commit/recovery.ts',
      "await fixIndex(site, token, { ...journal, files }, top, 'before');",
      '',
    ],
    [races, 'no staged line of a lost change'],
  ),
  guard(
    'an old proof of ours does not keep the index from being put back',
    ['git/commit/recovery.ts', 'if (!ours) disk.discard(', 'if (false) disk.discard('],
    [faults, 'a failure puts the index back'],
  ),
  guard(
    'a journal names nothing outside',
    [
      'git/commit/journal.ts',
      "if (parts.some((part) => /^(?:|\\.|\\.\\.|\\.git)$/i.test(part))) throw new TypeError('a way out');",
      '',
    ],
    [faults, 'is put aside and followed nowhere'],
  ),
  guard(
    'a journal that cannot be read is put aside',
    [
      'git/commit/recovery.ts',
      'if (!(error instanceof MemoryError)) throw error;\n    const aside',
      'throw error;\n    const aside',
    ],
    [faults, 'is put aside and followed nowhere'],
  ),
  guard(
    'new files are on the medium',
    [
      'git/disk/disk.ts',
      "this.files.write(fd, group);\n        await this.sync(fd, 'data');",
      'this.files.write(fd, group);',
    ],
    [power, 'a power cut'],
  ),
  guard(
    'index and ref are on the medium',
    [
      'git/disk/disk.ts',
      "await this.sync(fd, 'data');\n      return files.fstat(fd);",
      'return files.fstat(fd);',
    ],
    [power, 'a power cut'],
  ),
  guard(
    'reflogs are on the medium',
    ['git/refs/reflog.ts', "await disk.sync(fd, 'data');", ''],
    [power, 'a power cut'],
  ),
  guard(
    'names are on the medium',
    [
      'git/disk/disk.ts',
      "if (this.durability === 'relaxed' || process.platform",
      'if (this.durability || process.platform',
    ],
    [power, 'a power cut'],
  ),
  guard(
    'git attributes are on the medium before a tree that names them',
    ['git/commit/repository.ts', "basename(path) === '.gitattributes'", 'false'],
    [repository, 'git attributes on the medium before a tree'],
  ),
  guard(
    'the name of the journal is on the medium before the files change',
    ['git/commit/journal.ts', 'await disk.settle([folder]);', ''],
    [power, 'a power cut'],
  ),
  guard(
    'the proofs of the locks are on the medium before the locks are',
    ['git/commit/mutation.ts', '[...(await stored), site.folder]', '[...(await stored)]'],
    [power, 'a power cut'],
  ),
  guard(
    'a process with much to do lets in who waits',
    ['git/locks/process-lock.ts', 'if (rest > 0) await sleep(rest);', ''],
    [lock, 'for those who wait'],
  ),
  guard(
    'no program of the repository signs',
    ['git/commit/signing.ts', 'program: config.own(', 'program: config.get('],
    ['git/signing.test.ts', 'a program that the repository names is not run'],
  ),

  // Files that others have written.
  guard(
    'links are named, and not taken for nothing',
    ['git/disk/folder.ts', "if (stat?.kind === 'link') throw isLink(at, path);", ''],
    [workspace, 'fails alone and by name'],
  ),
  guard(
    'pipes and devices are not read',
    ['git/disk/folder.ts', "if (stat?.kind !== 'other') return;", 'return;'],
    ['hostile/links.test.ts', 'a pipe'],
  ),
  guard(
    'a file is opened itself, and not what a link there leads to',
    ['git/disk/file-layer.ts', 'withoutWaiting | O_NOFOLLOW', 'withoutWaiting'],
    ['git/files.test.ts', 'is not read'],
  ),
  guard(
    'a pipe or device is not read in the place of a file of git or of a client',
    [
      'git/disk/file-layer.ts',
      "if (!stat.isFile()) throw refusal('EFTYPE', 'is not a regular file', path);",
      '',
    ],
    ['git/files.test.ts', 'reads no pipe'],
  ),
  guard(
    'a link of the project that leads out of it is refused',
    [
      'git/repository/enclosure.ts',
      'if (!contains(this.root, target) || isOfGit(this.root, target)) {',
      'if (this.root === target) {',
    ],
    ['git/enclosure.test.ts', 'is refused by the name'],
  ),
  guard(
    'a server that a plugin starts does not take its folder for the project',
    ['app/root.ts', "if (source === 'cwd') await refusePluginFolder(input, probe);", ''],
    ['unit/plugin-folder.test.ts', 'is not the project'],
  ),
  guard(
    'a record changed within one tick of the clock is read again',
    [
      'store/records/folder-scan.ts',
      'const current = known?.settled && sameStat(known.stat, loaded.stat);',
      'const current = known && sameStat(known.stat, loaded.stat);',
    ],
    [workspace, 'has ticked a search finds what was changed'],
  ),
  guard(
    'a record changed within one tick of the clock is searched again',
    [
      'store/records/record-cache.ts',
      '!isSame(known, record)',
      '!sameStat(known.stat, record.stat)',
    ],
    [workspace, 'has ticked a search finds what was changed'],
  ),
  guard(
    'a folder changed within one tick of the clock is listed again',
    [
      'store/records/folder-scan.ts',
      'const current = known?.settled && sameStat(known.stat, stat);',
      'const current = known && sameStat(known.stat, stat);',
    ],
    [workspace, 'has ticked a listing finds what came'],
  ),
  guard(
    'a record in a folder that was not there is searched at once',
    [
      'store/records/record-cache.ts',
      'if (this.ownedBy(type).add(path)) this.#announce([path]);',
      'this.ownedBy(type).add(path);',
    ],
    ['property/next-read.test.ts', 'on disk'],
  ),
  guard(
    'a file that was left out of the index is indexed once it is smaller',
    [
      'store/records/record-cache.ts',
      'if (!this.#records.has(record.path)) this.#records.set(record.path, record);',
      '',
    ],
    ['hostile/volume.test.ts', 'until there is room'],
  ),
  guard(
    'of several files of one key, the one that counts now is found',
    [
      'store/records/record-cache.ts',
      'changed ? [record.path, ...twins] : twins',
      'changed ? [record.path] : []',
    ],
    [workspace, 'counts among several files of the same key'],
  ),
  guard(
    'a damaged file hides nothing else',
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
      '    if (existing?.error) throw existing.error;\n    const path = earlier?.path ?? existing?.path ?? this',
      '    const path = earlier?.path ?? existing?.path ?? this',
    ],
    [workspace, 'fails alone and by name'],
  ),
  guard(
    'bytes that are no UTF-8',
    ['store/records/record-file.ts', 'fatal: true, ignoreBOM', 'fatal: false, ignoreBOM'],
    [workspace, 'fails alone and by name'],
  ),
  guard(
    'a memory of a later format',
    [
      'store/records/memory-config.ts',
      'if (config.format <= formatVersion) return config;',
      'return config;',
    ],
    [workspace, 'of a later format is refused'],
  ),
  guard(
    'aliases that repeat each other',
    [
      'core/yaml/foreign.ts',
      'if (++this.#values > maxYamlMarks) throw',
      'if (++this.#values < 0) throw',
    ],
    ['unit/yaml.test.ts', 'laughs'],
  ),
  guard(
    'YAML that would keep its reader busy',
    ['core/yaml/foreign.ts', '    checkBounds(text);\n', ''],
    ['unit/yaml.test.ts', '100,000'],
  ),
  guard(
    'globs that take for ever',
    [
      'store/modes/access.ts',
      'if (expanded.length > maxPatterns) {',
      'if (expanded.length > 1e9) {',
    ],
    ['unit/store/access.test.ts', 'limited in length and number'],
  ),
  guard(
    'the number of folders above a record',
    ['store/records/transaction.ts', 'if (folders > maxDepth) {', 'if (false) {'],
    ['hostile/sizes.test.ts', 'below 33 folders'],
  ),
  guard(
    'the size of a record',
    ['store/records/transaction.ts', 'if (size > maxRecordBytes) {', 'if (false) {'],
    ['hostile/sizes.test.ts', '10 MB of text are refused'],
  ),

  // What a caller sends.
  guard(
    'names that lead out of the folder',
    ['core/names/file-name.ts', "if (isPathOut(name.normalize('NFKC'))) {", 'if (false) {'],
    ['unit/file-name.test.ts', ''],
  ),
  guard(
    'names that lead into .git',
    ['core/names/file-name.ts', 'if (isGit(segment)) return \'must not lead into ".git"\';', ''],
    ['unit/file-name.test.ts', ''],
  ),
  guard(
    'names that are devices of Windows',
    ['core/names/file-name.ts', 'if (device.test(segment)) return', 'if (false) return'],
    ['unit/file-name.test.ts', ''],
  ),
  guard(
    'forged lines of a subject or trailer',
    [
      'store/records/message.ts',
      "return text.replace(/[\\s\\p{Cc}\\p{Cf}\\u2028\\u2029]+/gu, ' ').trim();",
      'return text.trim();',
    ],
    [workspace, 'is one commit that says who'],
  ),
  guard(
    'a reason that would end the message',
    ['store/records/message.ts', '(/^(---|diff -|Index: )/.test(line)', '(false'],
    [workspace, 'is one commit that says who'],
  ),
  guard(
    "what a mode's rules forbid to write",
    [
      'store/records/transaction.ts',
      "    if (!this.access.mayWrite(path)) throw forbidden('change', path, this.access);\n    const before",
      '    const before',
    ],
    [workspace, 'hold for reading, listing'],
  ),
  guard(
    'the root of the file system and the home directory',
    ['app/root.ts', 'if (what === undefined) return;', 'return;'],
    ['unit/root.test.ts', 'what is refused'],
  ),
  guard(
    'stdout for the protocol alone',
    [
      'server/mcp/stdio.ts',
      "Object.defineProperty(process, 'stdout', { value: stderr, configurable: true, enumerable: true });",
      '',
    ],
    ['contract/stdio.test.ts', 'stays off the wire'],
  ),
  guard(
    'lines that are too long',
    [
      'server/mcp/stdio.ts',
      'const tooLong = this.#bytes > maxMessageBytes;',
      'const tooLong = false;',
    ],
    ['unit/stdio.test.ts', 'a line that is too long'],
  ),
  guard(
    'characters that steer a terminal',
    ['cli/terminal.ts', "char === '\\r' ? ''", 'char ? char'],
    ['contract/cli-people.test.ts', 'printable text'],
  ),

  // Credentials.
  guard(
    'credentials in a change',
    [
      'store/records/memory-folder.ts',
      'guard.checkChange(changes, provenance, message, (path) => this.view.typeOf(path));',
      '',
    ],
    [secrets, 'in a field of a new record'],
  ),
  guard(
    'credentials in an edit by hand that would be committed',
    ['store/records/memory-folder.ts', 'guard.checkEdit(...edit)', 'undefined'],
    [secrets, 'is not committed for a person who has typed it'],
  ),
  guard(
    'credentials in the name of a file',
    [
      'store/secrets/guard.ts',
      "{ text: path, before: () => known, name: 'the name of the file' },",
      '',
    ],
    ['hostile/secrets.test.ts', 'and the refusal says so'],
  ),
  guard(
    'credentials in the name of a new folder',
    [
      'app/session-place.ts',
      "if (create) (await import('../store/secrets/guard.ts')).checkNewFolder(target);",
      '',
    ],
    ['hostile/secrets.test.ts', 'name of a folder'],
  ),
  guard(
    'credentials in a reason',
    ['store/secrets/guard.ts', "{ text: why.reason ?? '', before, name: 'the reason' },", ''],
    [secrets, 'in the reason'],
  ),
  guard(
    'credentials in the message as it is written',
    ['store/secrets/guard.ts', "{ text: message, before, name: 'the message of the commit' },", ''],
    [secrets, 'in the message of the commit'],
  ),
  guard(
    'credentials that only the title of a record tells',
    ['store/secrets/guard.ts', 'if (record) all.push(', 'if (false) all.push('],
    [secrets, 'by nothing but the title'],
  ),
  guard(
    'credentials behind invisible and encoded characters',
    ['store/secrets/scan.ts', 'if (!plain) return found;', 'if (!plain || plain) return found;'],
    ['unit/secrets/scan.test.ts', 'is found behind'],
  ),
  guard(
    'credentials in errors about what was asked for',
    ['app/app.ts', 'return redactError(error);', 'return error;'],
    ['hostile/secrets.test.ts', 'is not repeated'],
  ),

  // HTTP.
  guard(
    'a page of another site that has led its name here',
    ['server/http/guards.ts', 'if (!names.includes(name) && !(open', 'if (false && !(open'],
    ['contract/http-auth.test.ts', 'is refused'],
  ),
  guard(
    'a page of another origin',
    ['server/http/guards.ts', 'if (origin !== undefined && !origins', 'if (false && !origins'],
    ['contract/http-auth.test.ts', 'is refused, and nothing is written'],
  ),

  // Remotes.
  guard(
    'a remote: what it sent is looked at before it is kept',
    ['git/remote/program-remote.ts', 'inspect(objects, tip);', ''],
    [remote, 'nothing where that fails'],
  ),
  guard(
    'a remote: a fetch of more bytes than the limit',
    ['git/remote/program.ts', 'if (error) end(error);', ''],
    [remote, 'of more bytes than its limit'],
  ),
  guard(
    'a remote: git that does not end',
    ['git/remote/program.ts', 'after(limit, () => end(tooSlow(limit)));', ''],
    [remote, 'does not answer'],
  ),
  guard(
    'a remote: programs that ask for a password',
    [
      'git/remote/program-remote.ts',
      'return !/^(?:SSH_ASKPASS|MEMORY_BANK_)/.test(name);',
      'return true;',
    ],
    [remote, 'ssh ask nothing'],
  ),
  guard(
    'a remote: an address that is rewritten twice',
    ['git/remote/program-remote.ts', 'tpushInsteadOf', 'tnoRule'],
    [remote, 'a second time'],
  ),
  guard(
    'a remote: the settings of the repository for programs',
    [
      'git/remote/program-remote.ts',
      "'core.hooksPath=/dev/null',\n  'core.fsmonitor=false',\n  'core.alternateRefsCommand=true',\n  'core.fsync=all',",
      "'core.fsync=all',",
    ],
    ['hostile/programs.test.ts', 'names is run'],
  ),
  guard(
    'a remote: a login in an error',
    [
      'git/remote/program-remote.ts',
      'const reason = withoutLogins(complaint)',
      'const reason = complaint',
    ],
    [remote, 'names no user'],
  ),
  guard(
    'a remote: a record that is too large',
    ['store/sync/joining.ts', 'checkSizes(odb, [...inside, ...outside], folder);', ''],
    ['contract/sync.test.ts', 'over a folder a record that is too large'],
  ),
  guard(
    'another site that uses the cookie of a session',
    ['server/http/guards.ts', 'if (foreign && caller.bySession', 'if (false && caller.bySession'],
    ['contract/http-auth.test.ts', 'cannot use the session cookie'],
  ),
  guard(
    'a host in the target of a request',
    [
      'server/http/guards.ts',
      'for (const asked of [host, targetHost(url) ?? host])',
      'for (const asked of [host])',
    ],
    ['contract/http-input.test.ts', 'whatever its Host'],
  ),
  guard(
    'a body that is sent after its refusal',
    ['server/http/http.ts', "server.on('checkContinue', answer);", ''],
    ['contract/http-input.test.ts', 'is refused without leave'],
  ),
  guard(
    'pipelined requests of a client that does not read',
    ['server/http/backlog.ts', 'if (!queue) {', 'if (!queue || queue) {'],
    ['contract/http-backlog.test.ts', 'is answered one request at a time'],
  ),
  guard(
    'a client that never reads its answer',
    ['server/http/backlog.ts', 'response.setTimeout(this.#readTimeout)', 'response.setTimeout(0)'],
    ['contract/http-backlog.test.ts', 'is cut off in the end'],
  ),
  guard(
    'MCP sessions for other callers',
    ['server/http/mcp-sessions.ts', 'const maxShare = 50;', 'const maxShare = 200;'],
    ['contract/http-mcp.test.ts', 'of one caller leave room'],
  ),
  guard(
    'reads that all run at once',
    ['server/http/backlog.ts', 'if (this.#reading >= maxReads) return;', ''],
    ['contract/http-backlog.test.ts', 'a small answer does not wait'],
  ),
];
