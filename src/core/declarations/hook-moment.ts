/** A moment of a session at which hooks speak, unless the settings say otherwise. */
export type HookMoment = 'start' | 'prompt' | 'file' | 'command';
