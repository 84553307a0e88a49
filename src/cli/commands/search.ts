import { counted } from '../../core/answers/painter.ts';
import { noOthers, reportOthers, searchOthers } from '../../core/declarations/other-memories.ts';
import { besides, reportSearch, standing, titleOf } from '../../core/memory/hit-form.ts';
import type { SearchExplanation, SearchHit, SearchSignal } from '../../core/memory/search-hit.ts';
import { type Command, flagNumber, flagText } from '../line/command.ts';
import { withWordedDamage, wordingFor } from '../line/error-wording.ts';
import { withRecords } from '../line/record-lookup.ts';
import { outputFlag, showResult } from '../line/result.ts';
import { inReadingSession } from '../line/run-in-session.ts';
import { matchLines } from '../screen/match-lines.ts';
import type { Screen } from '../screen/terminal.ts';

/** `memory-bank search <words>`: finds records by words, the best matches first. */
export const search: Command = {
  about: 'find anything in the memory by words',
  operands: ['word', 'word...'],
  flags: {
    toolset: { value: 'toolset', about: 'only records of this toolset' },
    limit: { value: 'number', about: 'at most this many', default: '10' },
    offset: { value: 'number', about: 'leave out the first ones', default: '0' },
    explain: { about: 'show for each record why it was found' },
    exact: { about: 'find the words as one literal text' },
    'as-of': { value: 'revision', about: 'search the memory of a commit, branch or date' },
    ...outputFlag,
  },
  async run(invocation) {
    const { app, operands, values } = invocation;
    const toolset = flagText(values, 'toolset');
    const limit = flagNumber(values, 'limit', 10, 1, 1000);
    const offset = flagNumber(values, 'offset', 0, 0, 1_000_000);
    const searched = withRecords(await app.toolsets(), toolset);
    const request = {
      query: operands.join(' '),
      types: searched.flatMap(({ records }) => records),
      fuzzy: values.exact !== true,
      limit,
      offset,
      explain: values.explain === true,
    };
    const revision = flagText(values, 'as-of');
    const { result, others } = await inReadingSession(invocation, (session, call) =>
      app.run(session, 'search', call, async (context) => {
        const { store, history } = context;
        const searched = revision === undefined ? store : await history.at(revision);
        const result = await searched.search(request);
        const isAll = revision === undefined && offset === 0;
        return { result, others: isAll ? await searchOthers(context, request) : noOthers };
      }),
    );
    const { hits, total, damaged } = result;
    const left = total - offset - hits.length;
    const word = await wordingFor();
    const report = {
      ...withWordedDamage(reportSearch(result, offset), word),
      ...reportOthers(others),
    };
    await showResult(values, report, (screen) => [
      ...hits.flatMap((hit) => hitLines(screen, hit)),
      ...(left > 0
        ? [screen.paint('faint', `${counted(left, 'more hit')}: --offset ${offset + hits.length}`)]
        : []),
      ...otherLines(screen, 'From memories of other repositories', others.foreign),
      ...otherLines(
        screen,
        'From plans',
        others.plans.map((hit) => ({ ...hit, path: hit.file })),
      ),
      ...otherLines(screen, 'From your global banks', others.personal),
      ...damaged.map(({ error }) => screen.paint('bad', `cannot be read: ${word(error.text)}`)),
    ]);
    const { foreign, plans, personal } = others;
    if (total + foreign.length + plans.length + personal.length > 0) return 0;
    process.stderr.write('Nothing was found.\n');
    return 3;
  },
};

function otherLines(screen: Screen, title: string, hits: readonly SearchHit[]): string[] {
  if (hits.length === 0) return [];
  return ['', screen.paint('faint', title), ...hits.flatMap((hit) => hitLines(screen, hit))];
}

function hitLines(screen: Screen, hit: SearchHit): string[] {
  const { path, section, also = [], later } = hit;
  const indent = '    ';
  const shown = [hit.snippet, ...besides(hit)].filter((text) => text !== '');
  const lines = shown.flatMap((text) =>
    matchLines(screen, text, hit.matches, screen.width - indent.length),
  );
  const newer = later === undefined ? '' : `later: ${later}`;
  const faint = [section ?? '', standing(hit), newer].filter((line) => line !== '');
  return [
    `${screen.paint('title', screen.fit(titleOf(hit), 60))}  ${screen.paint('faint', path)}`,
    ...faint.map((line) => `  ${screen.paint('faint', screen.fit(line, screen.width - 2))}`),
    ...lines.map((line) => indent + line),
    ...also.map(
      (name) => `  ${screen.paint('faint', screen.fit(`also: ${name}`, screen.width - 2))}`,
    ),
    ...(hit.explanation ? explanationLines(screen, hit.explanation) : []),
  ];
}

const signalNames: readonly (readonly [name: SearchSignal, text: string])[] = [
  ['passage', 'words in one passage'],
  ['near', 'words near each other'],
  ['title', 'words in the title'],
  ['fit', 'a text about little else'],
  ['same_title', 'the title is the query'],
  ['meaning', 'words used alike in texts about software'],
  ['learned', 'words used alike in the project'],
  ['model', 'similar by the embedding model'],
];

/** One line for each word of the query and for each other signal, with what it adds to the score. */
function explanationLines(screen: Screen, { words, signals, similar = [] }: SearchExplanation) {
  const rows = words.map(({ asked, found, added }): [number, string] => {
    const uses = found.map(({ word, how, fields }) => `${word} (${how}, ${fields.join(' + ')})`);
    return [added, `${asked}: ${uses.join(', ')}`];
  });
  for (const [name, text] of signalNames) {
    const added = signals[name];
    const alike = name === 'meaning' ? similar : [];
    const pairs = alike.map(({ asked, found }) => `${asked} ~ ${found.join(', ')}`);
    if (added) rows.push([added, [text, ...pairs].join('; ')]);
  }
  return rows.map(([added, text]) => {
    const line = screen.fit(`${added.toFixed(2)}  ${screen.plain(text)}`, screen.width - 4);
    return `    ${screen.paint('faint', line)}`;
  });
}
