import { counted } from '../../core/answers/painter.ts';
import type { DocsReport } from '../../core/evidence/doc-finding.ts';
import type { Screen } from '../screen/terminal.ts';

/** Lines for people: the claims of instructions and documents that drifted, and their number. */
export function docsLines(screen: Screen, docs: DocsReport | undefined): string[] {
  if (!docs) return [];
  const { files, counts, fixed = [] } = docs;
  const written = fixed.map((path) => `${screen.paint('good', 'fixed')}    ${path}\n`);
  const listed = files.flatMap(({ path, findings }) =>
    findings.map(({ severity, line, message }) => {
      const place = screen.paint('key', `${path}:${line}`);
      return `${screen.paint('bad', severity.padEnd(8))} ${place}: ${screen.plain(message)}\n`;
    }),
  );
  const summary = `${counted(counts.files, 'document')} with ${counted(counts.claims, 'claim')}: ${counts.drifted} drifted, ${counts.true} true, ${counts.unknown} cannot be judged`;
  const all = [...written, ...listed];
  return ['\n', ...all, ...(all.length > 0 ? ['\n'] : []), `${summary}\n`];
}

/** The same as a value for programs. */
export function docsJson({ files, counts, fixed }: DocsReport) {
  return {
    files: files.map(({ path, findings }) => ({
      path,
      findings: findings.map((one) => ({
        ...one,
        commit: one.commit ?? null,
        now: one.now ?? null,
      })),
    })),
    counts,
    ...(fixed && { fixed }),
  };
}
