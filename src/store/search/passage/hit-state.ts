import type { Saying } from '../../../core/declarations/decision-parts.ts';
import type { NamedSection } from '../../../core/markdown/section-path.ts';
import type { SearchFields } from '../../../core/record/record-type.ts';
import { isSupersededText } from '../text/passage-area.ts';
import { onOneLine } from './passage-range.ts';

/** Longest state that is shown, and longest part that is searched for one, in characters. */
const longestState = 60;
const longestPart = 4000;

/** A mark in a heading: `Use MySQL (superseded)`, `[Rejected] Use MySQL`. */
const marked =
  /[([](superseded|replaced|rejected|deprecated|obsolete|abandoned|withdrawn|abgelehnt|verworfen|ersetzt|veraltet|rejetée?|remplacée?|obsolète|rechazad[ao]|reemplazad[ao]|obsolet[ao]|rejeitad[ao]|substituíd[ao]|已废弃|已取代|已否决|廃止|却下)\b[^)\]]{0,40}[)\]]/iu;
/** The status in the front matter of a record of another program. */
const front = /^status:[ \t]*["']?([^\r\n#]*?)["']?[ \t]*$/imu;
const replaced = /superseded by/i;
const link = /!?\[([^[\]]*)\](?:\([^)]*\)|\[[^\]]*\])/g;

/** The state of a record or of what a part of its text says, as it is written; undefined without one. */
export function stateOf(
  fields: SearchFields,
  saying: Saying | undefined,
  section: NamedSection | undefined,
  contentStart: number,
): string | undefined {
  const { body = '', title, state } = fields;
  if (state !== undefined) return state;
  const said = saying && statementsOf(saying, body);
  if (said?.given) return said.given;
  for (let up = section; up; up = up.parent) if (marked.test(up.heading)) return markIn(up.heading);
  if (marked.test(title)) return markIn(title);
  if (said?.isSuperseded) return 'superseded';
  const written = front.exec(body.slice(0, contentStart))?.[1];
  return (written && shown(written)) || undefined;
}

function markIn(heading: string): string | undefined {
  return marked.exec(heading)?.[1]?.toLowerCase();
}

/** The state that the text of a decision gives, and whether it says that another one replaces it. */
interface Statements {
  readonly given: string | undefined;
  readonly isSuperseded: boolean;
}

const known = new WeakMap<Saying, Statements>();

function statementsOf(saying: Saying, body: string): Statements {
  const found = known.get(saying) ?? findStatements(saying, body);
  known.set(saying, found);
  return found;
}

function findStatements({ parts }: Saying, body: string): Statements {
  const claims = parts.filter(({ kind }) => kind?.name === 'claim');
  const own =
    parts.find(({ kind }) => kind?.name === 'status') ??
    claims.find(({ start, end }) => replaced.test(body.slice(start, end)));
  const given = own && shown(body.slice(own.start, own.end).trim().split(/\r?\n/, 1)[0] ?? '');
  const isSuperseded = parts.some(
    ({ start, end }) => end - start <= longestPart && isSupersededText(body.slice(start, end)),
  );
  return { given, isSuperseded };
}

function shown(text: string): string {
  const line = onOneLine(text.replace(link, '$1').replace(/[*_`>]/g, ''))
    .replace(/^[-+\s]+/, '')
    .replace(/[.;\s]+$/, '');
  return line.length <= longestState
    ? line
    : `${line.slice(0, longestState).replace(/[\ud800-\udbff]$/, '')}…`;
}
