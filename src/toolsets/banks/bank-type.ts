/** The three types of bank, as the tools take them. */
export const bankTypes = ['global', 'project', 'code'] as const;

export type BankType = (typeof bankTypes)[number];

/** Folder of each type below `banks/`, which is also its key in the answer of `list`. */
export const folders = { global: 'global', project: 'projects', code: 'code' } as const;
