import { expect, test } from 'vitest';
import * as z from 'zod';
import { codeQuality } from '../../src/cli/report/code-quality.ts';
import { githubAnnotations } from '../../src/cli/report/github-annotations.ts';
import { placedFindings } from '../../src/cli/report/placed-finding.ts';
import { sarifLog } from '../../src/cli/report/sarif-log.ts';
import { textKinds, verdicts } from '../../src/core/evidence/finding-kinds.ts';
import type {
  CheckFinding,
  EvidenceFinding,
  RecordFindings,
  TextFinding,
} from '../../src/core/evidence/verdict.ts';

const all = ['error', 'warning', 'notice', 'info'] as const;
/** The project is in a folder whose name has every character with a meaning in some format. */
const folders = { memory: 'a,b: 100%/.memory-bank', project: 'a,b: 100%' };

function code(found: Partial<EvidenceFinding>): EvidenceFinding {
  const { verdict = 'changed' } = found;
  return {
    kind: 'evidence',
    verdict,
    severity: verdicts[verdict].severity,
    evidence: { path: 'src/lock.ts', lines: { first: 4, last: 9 }, source: 'found' },
    now: undefined,
    commit: undefined,
    line: 7,
    message: 'It changed.',
    ...found,
  };
}

function text(found: Partial<TextFinding>): TextFinding {
  const { kind = 'secret' } = found;
  return { kind, severity: textKinds[kind].severity, records: [], message: 'It is.', ...found };
}

const change = { path: 'src/lock.ts', lines: { first: 5, last: 6 } };
const place = (records: readonly RecordFindings[]) => placedFindings({ records, folders }, all);
const one = (...findings: CheckFinding[]) => place([{ path: 'knowledge/a.md', findings }]);

test('changed code is at its present lines, everything else in the record', () => {
  const found = one(code({ change }), code({ verdict: 'gone' }), text({ line: 3 }), text({}));
  expect(found.map(({ path, lines, check, message }) => [path, lines, check, message])).toEqual([
    [
      'a,b: 100%/src/lock.ts',
      { first: 5, last: 6 },
      'evidence-changed',
      'knowledge/a.md: It changed.',
    ],
    [
      'a,b: 100%/.memory-bank/knowledge/a.md',
      { first: 7, last: 7 },
      'evidence-gone',
      'It changed.',
    ],
    ['a,b: 100%/.memory-bank/knowledge/a.md', { first: 3, last: 3 }, 'secret', 'It is.'],
    ['a,b: 100%/.memory-bank/knowledge/a.md', { first: 1, last: 1 }, 'secret', 'It is.'],
  ]);
  const top = { memory: '.memory-bank', project: '.' };
  const records = [{ path: '../.clinerules-code', findings: [text({}), code({ change })] }];
  expect(placedFindings({ records, folders: top }, all).map(({ path }) => path)).toEqual([
    '.clinerules-code',
    'src/lock.ts',
  ]);
  expect(placedFindings({ records, folders }, ['info'])).toEqual([]);
});

test('a fingerprint stays when lines and words move, and is unique in a report', () => {
  const report = (first: number, message: string) => {
    const evidence = (last: number) => ({
      path: 'src/lock.ts',
      lines: { first, last },
      source: 'found' as const,
    });
    const lines = { first, last: first };
    return place([
      {
        path: 'a.md',
        findings: [
          code({ evidence: evidence(90), message, change: { path: 'src/lock.ts', lines } }),
          code({ evidence: evidence(91), message, line: first }),
          code({ verdict: 'gone', message }),
          text({ line: first, message }),
          text({ line: first + 1, message }),
          text({ kind: 'rivals', records: ['b.md'] }),
          text({ kind: 'rivals', records: ['c.md'] }),
        ],
      },
      { path: 'b.md', findings: [code({ evidence: evidence(90), message })] },
    ]).map(({ fingerprint }) => fingerprint);
  };
  expect(report(40, 'Line 40.')).toEqual(report(2, 'Line 2.'));
  expect(new Set(report(1, ''))).toHaveLength(8);
});

test('GitHub gets one command a finding, whatever its texts contain', () => {
  const message = 'By Ada\r\n::error::100%\u001b[31m: a, b';
  const found = githubAnnotations(
    one(code({ change, message }), text({ kind: 'copy' }), code({ verdict: 'fresh' })),
    '1.0.0',
  );
  expect(found.split('\n')).toEqual([
    '::warning file=a%2Cb%3A 100%25/src/lock.ts,line=5,endLine=6,title=memory-bank%3A evidence-changed::knowledge/a.md: By Ada%0D%0A::error::100%25\\u{1b}[31m: a, b',
    '::notice file=a%2Cb%3A 100%25/.memory-bank/knowledge/a.md,line=1,endLine=1,title=memory-bank%3A copy::It is.',
    '::notice file=a%2Cb%3A 100%25/.memory-bank/knowledge/a.md,line=7,endLine=7,title=memory-bank%3A evidence-fresh::It changed.',
    '',
  ]);
  expect(githubAnnotations([], '1.0.0')).toBe('');
});

/** The part of SARIF 2.1.0 that a log has, with the rules of the specification for it. */
const sarif = z.strictObject({
  $schema: z.url(),
  version: z.literal('2.1.0'),
  runs: z.tuple([
    z.strictObject({
      tool: z.strictObject({
        driver: z.strictObject({
          name: z.string().min(1),
          version: z.string(),
          rules: z.array(
            z.strictObject({
              id: z.string(),
              shortDescription: z.strictObject({ text: z.string().min(1) }),
              fullDescription: z.strictObject({ text: z.string().min(1) }),
            }),
          ),
        }),
      }),
      columnKind: z.enum(['utf16CodeUnits', 'unicodeCodePoints']),
      results: z.array(
        z.strictObject({
          ruleId: z.string(),
          ruleIndex: z.int().min(0),
          kind: z.enum(['fail', 'pass']),
          level: z.enum(['none', 'note', 'warning', 'error']),
          message: z.strictObject({ text: z.string().min(1) }),
          locations: z.tuple([
            z.strictObject({
              physicalLocation: z.strictObject({
                artifactLocation: z.strictObject({
                  // A relative reference of RFC 3986 whose first segment has no colon.
                  uri: z
                    .string()
                    .regex(/^(?:[\w.~!$&'()*+,;=@-]|%[0-9A-F]{2})+(?:\/[^\s:#?\\]*)*$/),
                  uriBaseId: z.literal('%SRCROOT%'),
                }),
                region: z
                  .strictObject({ startLine: z.int().min(1), endLine: z.int().min(1) })
                  .refine(({ startLine, endLine }) => endLine >= startLine),
              }),
            }),
          ]),
          partialFingerprints: z.record(z.string(), z.string()),
        }),
      ),
    }),
  ]),
});

test('a SARIF log has the rules and results of the specification', () => {
  const found = one(
    code({ change, message: 'It has half a pair: \ud800' }),
    code({ verdict: 'fresh' }),
    text({ line: 3 }),
    text({ line: 4 }),
  );
  const log = sarif.parse(JSON.parse(sarifLog(found, '1.0.0+5f0c4b1e')));
  const [{ tool, results }] = log.runs;
  expect(tool.driver.rules.map(({ id }) => id)).toEqual([
    'evidence-changed',
    'evidence-fresh',
    'secret',
  ]);
  for (const { ruleId, ruleIndex } of results) {
    expect(tool.driver.rules[ruleIndex]?.id).toBe(ruleId);
  }
  const places = results.map(({ locations, level }) => [
    locations[0].physicalLocation.artifactLocation.uri,
    level,
  ]);
  expect(places).toEqual([
    ['a%2Cb%3A%20100%25/src/lock.ts', 'warning'],
    ['a%2Cb%3A%20100%25/.memory-bank/knowledge/a.md', 'none'],
    ['a%2Cb%3A%20100%25/.memory-bank/knowledge/a.md', 'error'],
    ['a%2Cb%3A%20100%25/.memory-bank/knowledge/a.md', 'error'],
  ]);
  expect(sarif.safeParse(JSON.parse(sarifLog([], '1.0.0'))).success).toBe(true);
});

test('GitLab gets a list of issues with the fields that it needs', () => {
  const found = one(code({ change }), text({ line: 3 }), text({ kind: 'copy' }));
  expect(JSON.parse(codeQuality(found, '1.0.0'))).toEqual(
    [
      ['knowledge/a.md: It changed.', 'evidence-changed', 'major', 'src/lock.ts', 5],
      ['It is.', 'secret', 'critical', '.memory-bank/knowledge/a.md', 3],
      ['It is.', 'copy', 'minor', '.memory-bank/knowledge/a.md', 1],
    ].map(([description, check_name, severity, path, begin]) => ({
      description,
      check_name,
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      severity,
      location: { path: `a,b: 100%/${path}`, lines: { begin } },
    })),
  );
  expect(codeQuality([], '1.0.0')).toBe('[]\n');
});
