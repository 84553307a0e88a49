import type { Mode, Modes } from '../../core/declarations/context.ts';
import { type Session, sessionKey } from '../../core/memory/session.ts';
import { MemoryError } from '../../core/values/error.ts';
import { commandPattern } from './command-pattern.ts';
import type { ModeLibrary, Rules } from './mode-library.ts';

/** The command that starts an update, unless the rule file of the mode has its own. */
const standardCommand = '^(Update Memory Bank|UMB)$';

const modeState = sessionKey<{ readonly mode: Mode | undefined; readonly updating: boolean }>(
  'mode',
  () => ({ mode: undefined, updating: false }),
);

function listed({ modes, skipped }: Rules) {
  return {
    modes: [...modes.values()],
    skipped: skipped.map(({ source, reason }) => ({ source, reason })),
  };
}

/** The modes of a project for one session. */
export function sessionModes(library: ModeLibrary, session: Session): Modes {
  /** The session's mode by the current rules; without its file the last rules stay in force. */
  function modeIn(rules: Rules): Mode | undefined {
    const { mode, updating } = session.get(modeState);
    const now = mode && (rules.modes.get(mode.name) ?? mode);
    session.set(modeState, { mode: now, updating });
    return now;
  }

  return {
    async list(planned) {
      return listed(library.load(planned));
    },

    async listFrom(files) {
      return listed(library.loadFrom(files));
    },

    async current() {
      if (!session.get(modeState).mode) return undefined;
      return modeIn(library.load());
    },

    async switch(name) {
      const { onlyMode } = session;
      if (onlyMode !== undefined && name !== onlyMode) {
        throw new MemoryError('forbidden', `This session may use the mode ${onlyMode} only.`, {
          hint: 'Its access token says so.',
        });
      }
      if (name === null) {
        session.set(modeState, modeState.initial());
        return undefined;
      }
      const rules = library.load();
      const mode = rules.modes.get(name);
      if (!mode) throw unknownMode(name, rules);
      const { mode: before, updating } = session.get(modeState);
      session.set(modeState, { mode, updating: updating && before?.name === name });
      return mode;
    },

    get updating() {
      return session.get(modeState).updating;
    },

    setUpdating(updating) {
      session.set(modeState, { ...session.get(modeState), updating });
    },

    async isUmbCommand(message) {
      const rules = library.load();
      const trigger = modeIn(rules)?.umb?.trigger ?? standardCommand;
      const command = rules.modes.has(trigger) ? standardCommand : trigger;
      const said = message.trim();
      // A command can be a literal text, a pattern, or both.
      return (
        said.toLowerCase() === command.toLowerCase() || commandPattern(command)?.(said) === true
      );
    },

    async triggeredBy(message) {
      if (session.onlyMode !== undefined) return undefined;
      const rules = library.load();
      const own = modeIn(rules);
      // The triggers of the session's own mode come first.
      const first = own && calledFor([own], message, rules);
      return first ?? calledFor([...rules.modes.values()], message, rules);
    },
  };
}

/** The known mode with the longest trigger phrase in the message, among triggers of some modes. */
function calledFor(asked: readonly Mode[], message: string, rules: Rules): string | undefined {
  const said = message.toLowerCase();
  let best: { readonly target: string; readonly length: number } | undefined;
  for (const [target, phrases] of asked.flatMap((mode) => Object.entries(mode.triggers))) {
    if (!rules.modes.has(target)) continue;
    for (const phrase of phrases) {
      const longer = phrase.length > (best?.length ?? 0);
      if (longer && said.includes(phrase.toLowerCase())) best = { target, length: phrase.length };
    }
  }
  return best?.target;
}

function unknownMode(name: string, rules: Rules): MemoryError {
  const unusable = rules.skipped.filter(({ mode }) => mode === name);
  if (unusable.length > 0) {
    const reasons = unusable.map(({ source, reason }) => `${source} ${reason}`).join('; ');
    return new MemoryError('damaged', `The mode ${JSON.stringify(name)} is unusable: ${reasons}`, {
      hint: 'Fix the rule file, then switch again.',
      data: { mode: name, paths: unusable.map(({ source }) => source) },
    });
  }
  const names = [...rules.modes.keys()];
  return new MemoryError('not_found', `There is no mode ${JSON.stringify(name)}.`, {
    hint: `Known modes: ${names.join(', ')}.`,
    data: { mode: name, modes: names },
  });
}
