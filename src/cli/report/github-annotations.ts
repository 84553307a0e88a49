import type { Severity } from '../../core/evidence/finding-kinds.ts';
import { printable } from '../screen/terminal.ts';
import type { ReportFormat } from './placed-finding.ts';

const commands: { readonly [severity in Severity]: string } = {
  error: 'error',
  warning: 'warning',
  notice: 'notice',
  info: 'notice',
};

/** Writes workflow commands of GitHub Actions, which annotate the lines of a pull request. */
export const githubAnnotations: ReportFormat = (findings) =>
  findings
    .map(({ path, lines, severity, check, message }) => {
      const properties = {
        file: path,
        line: String(lines.first),
        endLine: String(lines.last),
        title: `memory-bank: ${check}`,
      };
      const given = Object.entries(properties).map(([name, value]) => `${name}=${property(value)}`);
      return `::${commands[severity]} ${given.join(',')}::${data(message)}\n`;
    })
    .join('');

/** Escapes the text of a workflow command, as the toolkit of GitHub Actions does. */
function data(text: string): string {
  return printable(text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A'));
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
