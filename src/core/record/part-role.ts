/**
 * The role of a part of a record.
 *
 * `answer`: the statement that holds, such as the decision, value, description or content. `reason`: why
 * it holds, such as the context or the consequences. `rejected`: an alternative that does not hold.
 * `bookkeeping`: evidence, sources and dates.
 */
export type PartRole = 'answer' | 'reason' | 'rejected' | 'bookkeeping';

/** The roles of the searched texts of a record, apart from its title. */
export interface FieldRoles {
  readonly body: PartRole;
  readonly reason: PartRole;
  readonly notes: PartRole;
}

/** The roles of the texts of most record types. */
export const usualRoles: FieldRoles = { body: 'answer', reason: 'reason', notes: 'reason' };
