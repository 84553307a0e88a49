/** Words before the name of a command: `sudo npm test`, `NODE_ENV=test npm test`. */
const before = /^(?:sudo|time|env|command|exec|nohup|npx|pnpx|bunx|[A-Za-z_]\w*=.*)$/;
/** Programs whose operands are files that they show or run. */
const openers =
  /^(?:bash|bat|cat|deno|gc|get-content|head|less|more|nl|node|perl|php|pwsh|python3?|ruby|sed|sh|source|tail|tsx|type|zsh)$/i;
/** Programs that show or look for their operands, which are then about no act. */
const viewers =
  /^(?:bat|cat|echo|find|gc|get-content|grep|head|less|ls|more|nl|printf|rg|sed|tail|type|which)$/i;
/** Limit of the text of a command, and of the commands in it. */
const maxText = 4_000;
const maxCommands = 12;
/** The fewest characters of a word by which a title names a command. */
const leastWord = 4;
/** Words of commands that are used for any work, so that a title with one is seldom about the command. */
const everyday =
  /^(?:build|check|code|file|files|help|install|lint|list|main|packages?|scripts?|show|start|status|tests?)$/;

/** A command of a line for a shell, without its options and redirections. */
interface SimpleCommand {
  /** The first word as it is written, and its last segment. */
  readonly start: string;
  readonly program: string;
  readonly words: readonly string[];
}

/** Splits a line for a shell into its commands, roughly: quotes and substitutions are not interpreted. */
function commandsIn(line: string): SimpleCommand[] {
  const parts = line.slice(0, maxText).split(/&&|\|\|?|[;\n]|\$\(|`/);
  return parts.slice(0, maxCommands).flatMap((part) => {
    const words = part.trim().split(/\s+/);
    while (before.test(words[0] ?? '')) words.shift();
    const [start = '', ...rest] = words.map((word) => word.replace(/^["'(]+|["')]+$/g, ''));
    const program = start.slice(start.lastIndexOf('/') + 1);
    if (program === '') return [];
    return [{ start, program, words: rest.filter((word) => /^[^-<>]/.test(word)) }];
  });
}

/** The files that a line for a shell shows or runs, as it names them. */
export function filesOfCommand(line: string): string[] {
  return commandsIn(line).flatMap(({ start, program, words }) => {
    if (start.includes('/')) return [start];
    return openers.test(program) ? words.filter((word) => /[./]/.test(word)) : [];
  });
}

/** The keys under which the passages about a command are found, the surest first. */
export function keysOfCommand(line: string): string[] {
  const keys = commandsIn(line).flatMap(({ program, words: [one, other] }) => {
    if (one === undefined) return [phraseKey(program)];
    const named = viewers.test(program) ? [] : [one, other ?? ''].flatMap(wordsIn);
    const longer = other === undefined ? [] : [phraseKey(program, one, other)];
    return [...longer, phraseKey(program, one), ...titleKeys(named)];
  });
  return [...new Set(keys)];
}

/** The words of an operand; of a path, those of the file without its ending. */
function wordsIn(operand: string): string[] {
  const name = operand.slice(operand.lastIndexOf('/') + 1).replace(/\.[a-z]{1,4}$/i, '');
  return name.split(/[:._-]+/);
}

/** The keys of the commands that a text has as code, and of the words of its title. */
export function keysOfText(title: string, text: string): string[] {
  const code = [...text.slice(0, maxText).matchAll(/`([^`\n]{2,200})`/g)];
  const phrases = code
    .flatMap(([, line = '']) => commandsIn(line))
    .flatMap((command) => {
      const { program, words } = command;
      // A name alone does not say which of its commands is meant, unless it is that of a script.
      if (words.length === 0 && !/[._-]/.test(program)) return [];
      return [phraseKey(program, ...words.slice(0, 2))];
    });
  return [...new Set([...phrases, ...titleKeys(title.split(/[^\p{L}\p{N}]+/u))])];
}

function phraseKey(...words: readonly string[]): string {
  return `c ${words.join(' ').toLowerCase()}`;
}

/** The forms of a word have one key: deploy, deployments, deploying. */
function titleKeys(words: readonly string[]): string[] {
  return words.flatMap((word) => {
    const lower = word.toLowerCase();
    if (lower.length < leastWord || everyday.test(lower)) return [];
    const root = lower.replace(/(?:ments?|ions?|ings?|ed|es|s|e)$/, '');
    return [`t ${root.length < leastWord - 1 ? lower : root}`];
  });
}
