/** The moments of a session at which hooks speak, and whether they do unless the settings say otherwise. */
export const hookMoments = {
  start: true,
  prompt: true,
  file: true,
  command: true,
  end: false,
} as const;
export type HookMoment = keyof typeof hookMoments;
