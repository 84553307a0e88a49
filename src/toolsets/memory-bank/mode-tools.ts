import * as z from 'zod';
import type { Mode } from '../../core/declarations/context.ts';
import { defineTool } from '../../core/declarations/tool.ts';
import { invalid, MemoryError } from '../../core/values/error.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { standardCommand, stepsOf } from './update-prompt.ts';

export const switchMode = defineTool({
  name: 'switch_mode',
  title: 'Switch mode',
  description:
    'Switch to another mode: architect, code, ask, debug, test or one of the project. Returns its instructions and rules.',
  effect: 'read',
  setsSession: true,
  input: z.object({ mode: z.string().min(1).describe('"none" ends it') }),
  async handle({ modes }, { mode }) {
    const now = await modes.switch(mode === 'none' ? null : mode);
    if (!now) return { message: 'No mode restricts the session', mode: null };
    return { message: `Switched to ${mode} mode`, ...describe(now) };
  },
});

export const getCurrentMode = defineTool({
  name: 'get_current_mode',
  title: 'Get the current mode',
  description: 'Which mode we are in, its rules, and all modes.',
  effect: 'read',
  input: z.object({}),
  async handle({ modes }) {
    const mode = await modes.current();
    const { modes: known, skipped } = await modes.list();
    return {
      ...(mode ? describe(mode) : { mode: null }),
      updating: modes.updating,
      modes: known.map(({ name }) => name),
      ...(skipped.length > 0 && { skipped: skipped.map((rule) => ({ ...rule })) }),
    };
  },
});

export const processUmbCommand = defineTool({
  name: 'process_umb_command',
  title: 'Begin a memory bank update',
  description:
    'Call it when the user says "Update Memory Bank" or "UMB": returns the steps. complete_umb ends it.',
  effect: 'read',
  setsSession: true,
  input: z.object({ command: z.string() }),
  async handle({ modes }, { command }) {
    const mode = await modes.current();
    if (!(await modes.isUmbCommand(command))) {
      throw invalid(['command'], `is not an update command such as "${standardCommand}"`);
    }
    modes.setUpdating(true);
    const lifted = mode?.umb?.overrideFileRestrictions === true;
    return {
      message: 'Memory Bank update begun',
      mode: mode?.name ?? null,
      instructions: [...stepsOf(mode)],
      filesToUpdate: lifted ? null : listOf(mode?.filesToUpdate),
    };
  },
});

export const completeUmb = defineTool({
  name: 'complete_umb',
  title: 'Complete a memory bank update',
  description: 'Call it when the update of the memory bank is done; process_umb_command began it.',
  effect: 'read',
  setsSession: true,
  input: z.object({}),
  handle({ modes }) {
    if (!modes.updating) {
      throw new MemoryError('invalid_input', 'No update of the memory bank is under way.', {
        hint: 'Call process_umb_command to start one.',
      });
    }
    modes.setUpdating(false);
    return { message: 'Memory Bank update completed' };
  },
});

/** Describes a mode to the agent; a null list means no restriction. */
function describe(mode: Mode): JsonObject {
  return {
    mode: mode.name,
    source: mode.source,
    instructions: [...mode.instructions],
    filesToRead: listOf(mode.filesToRead),
    filesToUpdate: listOf(mode.filesToUpdate),
  };
}

function listOf(patterns: readonly string[] | undefined): string[] | null {
  return patterns ? [...patterns] : null;
}
