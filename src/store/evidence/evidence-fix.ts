import { formatGiven, replaceEvidence } from '../../core/evidence/annotations.ts';
import type { CodePlace, EvidenceReport } from '../../core/evidence/verdict.ts';
import type { HistoryReader } from '../history/history-reader.ts';

/**
 * Writes the new places of given evidence that was moved, and nothing else, in one commit.
 *
 * Places in the text of a record stay: a text is a person's own words. So does a record that cannot be
 * read.
 *
 * @returns the paths of the changed records.
 */
export async function fixMoved(
  reader: HistoryReader,
  report: EvidenceReport,
): Promise<readonly string[]> {
  const { rights, history, access } = reader;
  const moves = new Map<string, ReadonlyMap<string, CodePlace>>();
  for (const { path, findings } of report.records) {
    const own = findings.flatMap((finding) => {
      if (finding.kind !== 'evidence' || finding.verdict !== 'moved' || !finding.now) return [];
      if (finding.evidence.source !== 'given') return [];
      return [[formatGiven(finding.evidence), finding.now] as const];
    });
    if (own.length > 0 && !history.memory.view.read(path)?.error) moves.set(path, new Map(own));
  }
  if (moves.size === 0) return [];
  const subject = `follow the moved code of ${moves.size === 1 ? [...moves.keys()][0] : `${moves.size} records`}`;
  const { made } = await history.memory.change(
    { subject },
    async (transaction) => {
      for (const [path, places] of moves) {
        await transaction.rewrite(path, (text) =>
          replaceEvidence(path, text, (evidence) => {
            const now = places.get(formatGiven(evidence));
            if (!now) return evidence;
            const { symbol } = evidence;
            return {
              ...evidence,
              path: now.path,
              ...(symbol === undefined && { lines: now.lines }),
            };
          }),
        );
      }
    },
    access,
    await rights.actor(),
    { caller: rights },
  );
  if (made) rights.onCommit(made);
  return [...moves.keys()];
}
