import { MemoryError } from '../../core/values/error.ts';
import type { Command } from '../line/command.ts';

/**
 * Scripts that ask the program for the words that fit: `memory-bank complete` prints `words` or `files`
 * in its first line, and then one candidate a line with its meaning after a tab.
 */
const scripts = {
  bash: `# bash completion of memory-bank: eval "$(memory-bank completion bash)"
_memory_bank() {
  local IFS=$'\\n' answer line
  answer=($("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null))
  COMPREPLY=()
  if [[ \${answer[0]} == files ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
    return
  fi
  for line in "\${answer[@]:1}"; do COMPREPLY+=("$(printf %q "\${line%%$'\\t'*}")"); done
}
complete -F _memory_bank memory-bank
`,
  zsh: `#compdef memory-bank
# zsh completion of memory-bank: source <(memory-bank completion zsh)
_memory_bank() {
  local -a answer candidates
  local line
  answer=("\${(@f)$("$words[1]" complete -- "\${(@)words[1,CURRENT]}" 2>/dev/null)}")
  if [[ $answer[1] == files ]]; then
    _files
    return
  fi
  for line in "\${(@)answer[2,-1]}"; do
    candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe memory-bank candidates
}
compdef _memory_bank memory-bank
`,
  fish: `# fish completion of memory-bank: memory-bank completion fish | source
function __memory_bank_complete
  set -l answer (memory-bank complete -- (commandline -opc) (commandline -ct) 2>/dev/null)
  if test "$answer[1]" = files
    __fish_complete_path (commandline -ct)
  else
    printf '%s\\n' $answer[2..]
  end
end
complete -c memory-bank -f -a '(__memory_bank_complete)'
`,
};

/** `memory-bank completion <shell>`: prints a script that completes commands, options and their values. */
export const completion: Command = {
  about: `print the completion script of a shell: ${Object.keys(scripts).join(', ')}`,
  operands: ['shell'],
  async run({ operands: [shell = ''] }) {
    const script = new Map<string, string>(Object.entries(scripts)).get(shell);
    if (script === undefined) {
      throw new MemoryError('invalid_input', `There is no completion for "${shell}".`, {
        hint: `The shells are: ${Object.keys(scripts).join(', ')}.`,
      });
    }
    process.stdout.write(script);
    return 0;
  },
};

/** The names of the shells that have a script. */
export const shells = Object.keys(scripts);
