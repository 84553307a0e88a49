/** The address of a field in decisions; that of the record without a field. */
export function conflictAddress(path: string, field?: string): string {
  return field === undefined ? path : `${path}#${field}`;
}

/** A conflict that can be decided alone: of a field, or of a record where only the whole of it can be. */
export interface ConflictQuestion<C, F> {
  readonly conflict: C;
  readonly field: F | undefined;
  readonly address: string;
}

/** Returns what is to be decided about some records. */
export function questionsOf<
  F extends { readonly field: string },
  C extends { readonly path: string; readonly fields: readonly F[] },
>(conflicts: readonly (C & { readonly fields: readonly F[] })[]): ConflictQuestion<C, F>[] {
  return conflicts.flatMap((conflict): ConflictQuestion<C, F>[] => {
    const { path, fields } = conflict;
    if (fields.length === 0) return [{ conflict, field: undefined, address: path }];
    return fields.map((field) => ({
      conflict,
      field,
      address: conflictAddress(path, field.field),
    }));
  });
}
