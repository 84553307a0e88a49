// `npm run picture`: runs the program in a new project on a terminal, and draws the terminal as
// docs/terminal.svg. The temporary home directory is shown as "~", and this one as "~/memory-bank".
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const top = resolve(import.meta.dirname, '..');
const columns = 100;

/** The typed commands; `memory-bank` runs `main.cjs`. */
const session = [
  'memory-bank init --yes --clients claude --command memory-bank',
  'memory-bank log-decision --title Authentication --decision "Use JWT" \\\n    --context "The API has to stay stateless"',
  'memory-bank track-progress --action Implementation --description "Sign-in with tokens"',
  'memory-bank search "why is the api stateless"',
  'memory-bank log',
];

/**
 * Returns the output of a command on a terminal, with colour codes.
 *
 * @param {string} command
 * @param {string} home
 */
function run(command, home) {
  const env = { HOME: home, PATH: `${home}/bin:${process.env.PATH}`, TERM: 'xterm-256color' };
  const line = `stty cols ${columns} rows 200; ${command}`;
  return execFileSync('script', ['-qec', line, '/dev/null'], {
    cwd: join(home, 'shop'),
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
    .replaceAll(home, '~')
    .replaceAll(top, '~/memory-bank')
    .replaceAll(process.execPath, '/usr/bin/node');
}

function record() {
  const home = mkdtempSync(join(tmpdir(), 'memory-bank-terminal-'));
  try {
    mkdirSync(join(home, 'bin'));
    mkdirSync(join(home, 'shop'));
    const shim = join(home, 'bin', 'memory-bank');
    writeFileSync(shim, `#!/bin/sh\nexec "${process.execPath}" "${top}/dist/main.cjs" "$@"\n`);
    chmodSync(shim, 0o755);
    const identity = '[user]\nname = Ada Lovelace\nemail = ada@example.org\n';
    writeFileSync(join(home, '.gitconfig'), identity);
    run('git init -q -b main && git commit -q --allow-empty -m Begin', home);
    return session.flatMap((command) => {
      const [first = '', ...rest] = command.split('\n');
      const typed = [`\u001b[32m$\u001b[39m \u001b[1m${first}\u001b[22m`];
      for (const line of rest) typed.push(`\u001b[1m${line}\u001b[22m`);
      const seen = run(command.replace('\\\n', ''), home).replaceAll('\r', '').trimEnd();
      return [...typed, ...seen.split('\n'), ''];
    });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** CSS class for each code that turns a style on, and the code that turns it off. */
const styles = new Map([
  [1, { name: 'bold', off: 22 }],
  [2, { name: 'faint', off: 22 }],
  [31, { name: 'red', off: 39 }],
  [32, { name: 'green', off: 39 }],
  [33, { name: 'yellow', off: 39 }],
  [36, { name: 'cyan', off: 39 }],
]);

/** @param {string} text */
function toMarkup(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** @param {string} line with colour codes */
function spans(line) {
  /** @type {Set<number>} */
  const on = new Set();
  let drawn = '';
  for (const [i, piece] of line.split(/\u001b\[(\d+)m/).entries()) {
    if (i % 2 === 1) {
      const code = Number(piece);
      if (styles.has(code)) on.add(code);
      for (const known of on) if (styles.get(known)?.off === code) on.delete(known);
    } else if (piece !== '') {
      const names = [...on].map((code) => styles.get(code)?.name).join(' ');
      drawn +=
        names === '' ? toMarkup(piece) : `<tspan class="${names}">${toMarkup(piece)}</tspan>`;
    }
  }
  return drawn;
}

/** @param {string[]} lines */
function draw(lines) {
  const [size, height, margin] = [14, 19, 20];
  const width = Math.ceil(columns * size * 0.602) + 2 * margin;
  const rows = lines.map((line, i) => {
    const y = margin + 28 + i * height;
    return line === ''
      ? []
      : `<text x="${margin}" y="${y}" xml:space="preserve">${spans(line)}</text>`;
  });
  const whole = margin + 28 + lines.length * height;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${whole}" width="${width}" height="${whole}" role="img">
<title>A terminal session: memory-bank init, a decision, progress, a search, the log</title>
<style>
text { font: ${size}px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328 }
rect { fill: #f6f8fa; stroke: #d1d9e0 }
.bold { font-weight: 700 } .faint { fill: #59636e }
.red { fill: #d1242f } .green { fill: #1a7f37 } .yellow { fill: #7d4e00 } .cyan { fill: #1b7c83 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } rect { fill: #151b23; stroke: #3d444d } .faint { fill: #9198a1 }
.red { fill: #ff7b72 } .green { fill: #56d364 } .yellow { fill: #e3b341 } .cyan { fill: #56d4dd }
}
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${whole - 1}" rx="8"/>
<circle cx="22" cy="20" r="6" fill="#ff5f57"/><circle cx="42" cy="20" r="6" fill="#febc2e"/><circle cx="62" cy="20" r="6" fill="#28c840"/>
${rows.flat().join('\n')}
</svg>
`;
}

writeFileSync(join(top, 'docs/terminal.svg'), draw(record()));
