import { MemoryError } from '../../core/error.ts';
import { type Command, type Commands, type Flag, type Flags, flagMeaning } from '../command.ts';

/** The parts of a command that completion uses. */
interface CompletableCommand {
  readonly name: string;
  readonly about: string;
  readonly flags: readonly (readonly [name: string, flag: Flag])[];
}

const shells = { bash, zsh, fish };

/** `memory-bank completion <shell>`: prints a script that completes commands, options and their values. */
export function completion(everyCommand: () => Promise<Commands>, general: Flags): Command {
  return {
    about: 'print the completion script of a shell: bash, zsh or fish',
    operands: ['shell'],
    async run({ operands: [shell = ''] }) {
      if (!isShell(shell)) {
        throw new MemoryError('invalid_input', `There is no completion for "${shell}".`, {
          hint: `The shells are: ${Object.keys(shells).join(', ')}.`,
        });
      }
      process.stdout.write(shells[shell](entries(await everyCommand(), general)));
      return 0;
    },
  };
}

function isShell(name: string): name is keyof typeof shells {
  return Object.hasOwn(shells, name);
}

function entries(commands: Commands, general: Flags): CompletableCommand[] {
  return [...commands]
    .filter(([, { hidden }]) => !hidden)
    .map(([name, { about, flags }]) => ({
      name,
      about: about.split(/(?<=[.;:])\s/, 1)[0]?.replace(/[.;:]$/, '') ?? '',
      flags: Object.entries({ ...general, ...flags }),
    }));
}

function bash(all: readonly CompletableCommand[]): string {
  const cases = all.map(({ name, flags }) => {
    const names = flags.map(([flag]) => `--${flag}`).join(' ');
    return `    ${name || "''"}) words='${names}' ;;`;
  });
  const values = all.flatMap(({ name, flags }) =>
    flags
      .filter(([, { choices }]) => choices)
      .map(([flag, { choices }]) => `    ${name}:--${flag}) words='${choices?.join(' ')}' ;;`),
  );
  return `# bash completion of memory-bank: eval "$(memory-bank completion bash)"
_memory_bank() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command='' words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
    --root | --toolsets | --mode) ((i++)) ;;
    -*) ;;
    *) command=\${COMP_WORDS[i]} && break ;;
    esac
  done
  case $command:$previous in
${values.join('\n')}
    *:--root | *:--*file | *:--*folder) COMPREPLY=($(compgen -f -- "$current")) && return ;;
  esac
  if [[ -z $words && $current == -* ]]; then
    case $command in
${cases.join('\n')}
    esac
  elif [[ -z $words && -z $command ]]; then
    words='${all
      .map(({ name }) => name)
      .filter((name) => name)
      .join(' ')}'
  fi
  if [[ -n $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$current")); else COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -F _memory_bank memory-bank
`;
}

function zsh(all: readonly CompletableCommand[]): string {
  const plain = (text: string) => text.replace(/['[\]:\\]/g, ' ');
  const named = all.filter(({ name }) => name !== '');
  const list = named.map(({ name, about }) => `    '${name}:${plain(about)}'`);
  const cases = named.map(({ name, flags }) => {
    const options = flags.map(([name, flag]) => {
      const { value, choices, many } = flag;
      const action = choices ? `(${choices.join(' ')})` : '_files';
      const taking = value === undefined ? '' : `:${plain(value)}:${action}`;
      return `'${many ? '*' : ''}--${name}[${plain(flagMeaning(flag))}]${taking}'`;
    });
    return `    ${name}) _arguments ${options.join(' ')} '*:file:_files' ;;`;
  });
  return `#compdef memory-bank
# zsh completion of memory-bank: source <(memory-bank completion zsh)
_memory_bank() {
  local -a commands
  commands=(
${list.join('\n')}
  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words && ((CURRENT--))
  case $command in
${cases.join('\n')}
  esac
}
compdef _memory_bank memory-bank
`;
}

function fish(all: readonly CompletableCommand[]): string {
  const quote = (text: string) => `'${text.replace(/\\/g, '\\\\').replace(/'/g, "\\'")}'`;
  const lines = all.flatMap(({ name, about, flags }) => {
    const none = '__fish_use_subcommand';
    const here = name === '' ? none : `__fish_seen_subcommand_from ${name}`;
    const command =
      name === '' ? [] : [`complete -c memory-bank -n ${none} -fa ${name} -d ${quote(about)}`];
    const options = flags.map(([option, flag]) => {
      const { value, choices } = flag;
      const taking = choices
        ? ` -xa ${quote(choices.join(' '))}`
        : value === undefined
          ? ''
          : ' -r';
      return `complete -c memory-bank -n ${quote(here)} -l ${option}${taking} -d ${quote(flagMeaning(flag))}`;
    });
    return [...command, ...options];
  });
  return `# fish completion of memory-bank: memory-bank completion fish | source\n${lines.join('\n')}\n`;
}
