import type { Mode } from '../../core/declarations/context.ts';
import type { Prompt } from '../../core/declarations/toolset.ts';
import { inOrder } from './file-tools.ts';
import { memoryFile } from './memory-file.ts';

/** The command that begins an update in every mode without its own trigger. */
export const standardCommand = 'Update Memory Bank';

const standardSteps = [
  'Go through this session: what was done, decided, learned and left open.',
  'Record finished work with track_progress and decisions with log_decision.',
  'Bring tasks, issues and next steps up to date with update_active_context.',
  'Correct what is no longer true in the other files, and leave the rest as it is.',
];

/** Returns the steps of an update: those of the mode, or the standard ones. */
export function stepsOf(mode: Mode | undefined): readonly string[] {
  const own = mode?.umb?.instructions ?? [];
  return own.length > 0 ? own : standardSteps;
}

/** The update workflow, for clients that show prompts. */
export const updatePrompt: Prompt = {
  name: 'update-memory-bank',
  title: 'Update the memory bank',
  description: 'Brings the memory bank up to date with what happened in this session.',
  async text({ modes, store }) {
    const mode = await modes.current();
    const { records } = await store.list(memoryFile);
    const command = (await modes.isUmbCommand(standardCommand))
      ? standardCommand
      : mode?.umb?.trigger;
    const lifted = mode?.umb?.overrideFileRestrictions === true;
    const patterns = lifted ? undefined : mode?.filesToUpdate;
    const steps = [
      `Call process_umb_command with the command "${command}".`,
      ...stepsOf(mode),
      'Call complete_umb.',
    ];
    return [
      'Bring the memory bank of this project up to date.',
      steps.map((step, i) => `${i + 1}. ${step}`).join('\n'),
      `Files: ${inOrder(records).join(', ') || 'none yet'}.`,
      patterns && `In ${mode?.name} mode only these may be updated: ${patterns.join(', ')}.`,
    ]
      .filter((part) => part !== undefined)
      .join('\n\n');
  },
};
