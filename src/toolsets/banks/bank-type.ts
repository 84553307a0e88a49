/** The three types of bank, as the tools take them. */
export const bankTypes = ['global', 'project', 'code'] as const;

export type BankType = (typeof bankTypes)[number];

/** The folder of each type below `banks/`, which is its key in the answer of `list`, too (1.3). */
export const folders = { global: 'global', project: 'projects', code: 'code' } as const;
