/** The section of `progress.md` with the entries. */
export const historyHeading = 'Update History';
/** The section of `activeContext.md` with the newest of them. */
export const notesHeading = 'Current Session Notes';
/** Number of session notes in the active context. */
export const maxNotes = 20;
/** The notice above the notes if there are older ones. */
export const notesNotice = `The newest ${maxNotes} notes; progress.md has the earlier ones.`;
