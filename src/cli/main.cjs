#!/usr/bin/env node
// A CommonJS module: Node.js reads it before libuv starts its threads, so it can still set how many.
const fs = require('node:fs');
const { dirname, join } = require('node:path');
const vm = require('node:vm');

// A change syncs eight or more files to the medium at a time. The default of four threads would do it
// in rounds, and each round would commit the journal of the file system.
if (process.env.UV_THREADPOOL_SIZE === undefined) process.env.UV_THREADPOOL_SIZE = '16';

/** The folder of the modules. */
const build = __dirname;
/** The parameters of the function that a CommonJS module is. */
const parameters = 'exports, require, module, __filename, __dirname';

/** Limit of the compiled code of a module, in bytes; the length in a damaged file may be any number. */
const maxCode = 16 * 1024 * 1024;

/** Age at which the first file is made again, in milliseconds; the next ones get about twice as old. */
const firstAge = 1_000;

/** The compiled code of the start is kept for the next process. */
const keepCode = '--no-flush-bytecode';
/** The V8 flags of each kind of process; compiled code is only valid under the flags it was made with. */
const flagsOf = new Map([
  // It ends before optimized code has saved the time that it takes to make.
  ['quick', ['--no-opt']],
  // By default V8 lets the heap grow to several times its size. The server runs next to an editor all day.
  ['stdio', ['--heap-growing-percent=25', keepCode]],
  // A server that answers many requests at a time: each of them is new garbage. The space for new objects
  // grows to its full size at once, because each step would copy them.
  ['serve', ['--heap-growing-percent=100', '--semi-space-growth-factor=16', keepCode]],
  // It has very many records at once; an import of 100,000 takes a fifth less memory this way.
  ['import', ['--optimize-for-size', '--heap-growing-percent=10']],
]);

/**
 * The CommonJS modules of the program, with the code that an earlier process has compiled: to compile
 * them takes longer than to run them. The code is next to the modules, one file for each kind of process
 * and version of Node.js.
 */
class Modules {
  /** @param {string} kind */
  constructor(kind) {
    this.file = join(build, `${kind}.${process.version}-${process.arch}.cache`);
    /** @type {Map<string, { exports: any }>} */
    this.loaded = new Map();
    /** @type {Map<string, vm.Script>} */
    this.scripts = new Map();
    this.kept = new KeptCode(this.file);
    /** Whether a module had to be compiled. */
    this.hasNew = false;
  }

  /**
   * Loads a module.
   *
   * @param {string} name relative to the build.
   * @returns {any}
   */
  load(name) {
    const known = this.loaded.get(name);
    if (known) return known.exports;
    const path = join(build, name);
    const opening = `(function (${parameters}) { `;
    const cachedData = this.kept.read(name);
    const script = new vm.Script(`${opening}${read(path)}\n})`, {
      filename: path,
      columnOffset: -opening.length,
      cachedData,
    });
    this.scripts.set(name, script);
    if (!cachedData || script.cachedDataRejected) this.hasNew = true;
    const own = { exports: {} };
    this.loaded.set(name, own);
    const folder = dirname(name);
    /** @param {string} wanted */
    const requireFrom = (wanted) =>
      wanted.startsWith('.') ? this.load(join(folder, wanted)) : require(wanted);
    try {
      script.runInThisContext()(own.exports, requireFrom, own, path, dirname(path));
    } catch (error) {
      // The next attempt must not get half of its exports.
      this.loaded.delete(name);
      throw error;
    }
    return own.exports;
  }

  /** Keeps the functions that this process has compiled, unless the folder belongs to another user. */
  keep() {
    if (!this.hasNew && !this.kept.isDue) return;
    const draft = `${this.file}.${process.pid}.tmp`;
    try {
      // Opened first: where it cannot be written, nothing is encoded.
      const file = fs.openSync(draft, 'w');
      try {
        const code = this.kept.all();
        for (const [name, script] of this.scripts) code.set(name, script.createCachedData());
        fs.writevSync(file, packed(this.kept.begun, code));
        // Node.js would trust half of the code after a power cut.
        fs.fsyncSync(file);
      } finally {
        fs.closeSync(file);
      }
      this.kept.close();
      fs.renameSync(draft, this.file);
    } catch {
      // Another process may have the file open, which prevents this on Windows. The next one tries again.
      fs.rmSync(draft, { force: true });
    }
  }
}

/**
 * A file of compiled code: the length of a header, the header, and the code of each module. The header
 * has the time of the first file in milliseconds, and the names and lengths of the modules. Each module is
 * read when it is needed; V8 checks that its code belongs to it.
 */
class KeptCode {
  /** @param {string} path */
  constructor(path) {
    /** @type {Map<string, { at: number, length: number }>} */
    this.places = new Map();
    this.begun = Date.now();
    /** Whether it is time to add the functions that only later processes have called. */
    this.isDue = false;
    try {
      // Stays open, because another process may replace the file.
      this.file = fs.openSync(path, 'r');
      let at = 4 + this.bytes(0, 4).readUInt32LE();
      const [begun, list] = JSON.parse(this.bytes(4, at - 4).toString());
      for (const [name, length] of list) {
        this.places.set(name, { at, length });
        at += length;
      }
      const written = fs.fstatSync(this.file).mtimeMs;
      this.isDue = this.begun - written > firstAge + Math.max(0, written - begun);
      this.begun = Math.min(begun, this.begun);
    } catch {
      // There is none, or it is damaged.
    }
  }

  close() {
    if (this.file !== undefined) fs.closeSync(this.file);
    this.file = undefined;
  }

  /**
   * @param {number} at
   * @param {number} length
   */
  bytes(at, length) {
    const bytes = Buffer.allocUnsafe(Math.min(length, maxCode));
    return bytes.subarray(0, fs.readSync(this.file ?? -1, bytes, { position: at }));
  }

  /**
   * @param {string} name of a module.
   * @returns {Buffer | undefined}
   */
  read(name) {
    try {
      const place = this.places.get(name);
      return place && this.bytes(place.at, place.length);
    } catch {
      return undefined;
    }
  }

  /** @returns {Map<string, Buffer>} */
  all() {
    const code = new Map();
    for (const name of this.places.keys()) code.set(name, this.read(name) ?? Buffer.alloc(0));
    return code;
  }
}

/**
 * The parts of such a file.
 *
 * @param {number} begun
 * @param {Map<string, Buffer>} code
 */
function packed(begun, code) {
  const list = [...code].map(([name, { length }]) => [name, length]);
  const header = Buffer.from(JSON.stringify([begun, list]));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(header.length);
  return [length, header, ...code.values()];
}

/** @param {string} path */
function read(path) {
  try {
    return fs.readFileSync(path, 'utf8');
  } catch (cause) {
    // As `require` reports it.
    throw Object.assign(new Error(`Cannot find ${path}`, { cause }), { code: 'MODULE_NOT_FOUND' });
  }
}

/** Options that are followed by a value, before the name of a command. */
const valued = /^--(?:root|toolsets|profile|mode)$/;

const args = process.argv.slice(2);
const [command = ''] = args.filter(
  (arg, i) => !arg.startsWith('-') && !valued.test(args[i - 1] ?? ''),
);
/** Clients take some exit statuses of a hook as a command to stop the session, so it never fails. */
const isHook = command === 'hook';
/** Longest time of a hook, in milliseconds, if its own limit does not end it; a client waits for most. */
const maxHookTime = args[1] === 'build-digest' ? 300_000 : 8_000;

/**
 * Ends a hook that failed; the reason is shown with `DEBUG=true`.
 *
 * @param {unknown} error
 */
function endHook(error) {
  if (process.env.DEBUG === 'true') process.stderr.write(`memory-bank: hook: ${error}\n`);
  process.exit(0);
}

if (isHook) {
  process.on('uncaughtException', endHook);
  process.on('unhandledRejection', endHook);
  setTimeout(endHook, maxHookTime, 'it takes too long').unref();
}

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  if (isHook) endHook(`Node.js ${process.versions.node} is too old`);
  process.stderr.write(
    `memory-bank needs Node.js 20.19 or later; this is ${process.versions.node}.\n`,
  );
  process.exitCode = 1;
} else {
  const packageFolder = join(__dirname, '..');
  main(packageFolder).catch((error) => {
    if (isHook) endHook(error);
    // The bundle imports nothing but its own files and modules of Node.js.
    if (error?.code !== 'MODULE_NOT_FOUND') throw error;
    process.stderr.write(
      'memory-bank: a file of the program is missing: it was replaced or removed while it started or ran. Try again; if that does not help, install it again (in a clone: npm ci).\n',
    );
    process.exitCode = 1;
  });
}

/** @param {string} packageFolder */
async function main(packageFolder) {
  const [name = ''] = args;
  const hook = isHook ? { input: undefined } : undefined;
  // Clients wait for a hook, so most are answered by a small part of the program.
  if (name === 'hook' || name === 'brief') {
    setFlags(flagsOf.get('quick'));
    const quick = new Modules('quick');
    const rest = await quick.load('quick.cjs').answer(args, packageFolder);
    if (rest === undefined) {
      // It has written everything, and the functions that it needs are compiled.
      quick.keep();
      process.exit(0);
    }
    if (hook) hook.input = rest.input;
    setFlags(['--opt']);
  }
  const isServer = name === '' || name.startsWith('-');
  const kind = isServer ? 'stdio' : flagsOf.has(name) ? name : 'command';
  setFlags(flagsOf.get(kind));
  const modules = new Modules(kind);
  const status = await modules.load('cli.js').run(args, packageFolder, hook);
  // Output to a pipe may not be written yet.
  process.stdout.write('', () => {
    modules.keep();
    process.exit(status);
  });
}

/** @param {string[]} [flags] of V8. */
function setFlags(flags = []) {
  if (flags.length === 0) return;
  const { setFlagsFromString } = require('node:v8');
  for (const flag of flags) setFlagsFromString(flag);
}
