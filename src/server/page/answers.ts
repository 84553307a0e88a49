import * as z from 'zod';

/** The data of the pages: the REST operations answer with it, and the pages import its types. */

const text = z.string();
const count = z.number();

export const commitShape = z.object({
  oid: text,
  at: text,
  author: text,
  subject: text,
  reason: text.optional(),
  agent: text.optional(),
  tool: text.optional(),
  session: text.optional(),
  mode: text.optional(),
});

/** A commit of the history. */
export type CommitData = z.infer<typeof commitShape>;

const kinds = ['added', 'changed', 'moved', 'removed'] as const;
const kind = z.enum(kinds);

export const changeShape = z.object({
  change: z.enum([...kinds, 'confirmed']),
  path: text,
  from: text.optional(),
  fields: z.array(text).optional(),
});

const entryShape = z.object({
  commit: commitShape,
  changes: z.array(changeShape),
  more: count.describe('number of changes that are not listed'),
});

/** A commit with the records that it changed. */
export type Entry = z.infer<typeof entryShape>;

const fieldShape = z.object({
  field: text,
  before: z.unknown().optional(),
  after: z.unknown().optional(),
  added: z.array(z.unknown()).optional(),
  removed: z.array(z.unknown()).optional(),
  diff: text.optional(),
});

/** The difference in one field of a record. */
export type FieldDifference = z.infer<typeof fieldShape>;

const differenceShape = z.object({
  change: kind,
  path: text,
  from: text.optional(),
  type: text,
  title: text.optional(),
  fields: z.array(fieldShape),
  isByBoth: z.boolean().optional().describe('whether both sides changed it since they diverged'),
  sections: z
    .array(text)
    .optional()
    .describe('addresses of changed sections: decisionLog.md#Title'),
});

/** A record that differs between two states. */
export type Difference = z.infer<typeof differenceShape>;

const referenceShape = z.object({ path: text, title: text, type: text });

/** A record that a page names. */
export type RecordReference = z.infer<typeof referenceShape>;

const pointShape = z.object({
  ...referenceShape.shape,
  text,
  at: text.optional(),
  anchor: text.optional().describe('of the section that says it'),
});

/** A statement of a record. */
export type Point = z.infer<typeof pointShape>;

export const problemShape = z.object({ path: text, message: text });

const stalePartShape = z.object({
  path: text,
  address: text.describe('of the record, or of one entry of a log'),
  title: text.optional().describe('of the entry'),
  anchor: text.optional().describe('of the entry in the page of the record'),
  seen: text.describe('a mark of this state, for the operation that ends it'),
  places: z.array(
    z.object({
      message: text,
      commit: commitShape.optional().describe('the commit that changed the code'),
      diff: text.optional().describe('the code as it was and as it is, in the unified format'),
    }),
  ),
});

/** A record, or an entry of a log, whose code is not as it was. */
export type StalePart = z.infer<typeof stalePartShape>;

export const evidenceShape = z.object({
  stale: z.array(stalePartShape).describe('the code that has changed or gone, by record and entry'),
  findings: z.array(
    z.object({
      path: text,
      verdict: text,
      severity: text,
      message: text,
      line: z.int().optional().describe('the line of the record that it is about'),
      mend: text.optional().describe('a command that mends it'),
    }),
  ),
});

/** The findings about records: code that has changed since they were written, and others. */
export type StaleEvidence = z.infer<typeof evidenceShape>;

export const verifiedShape = z.object({ address: text });

const concernShape = z.object({
  about: text.describe('a sentence about all of its records'),
  commit: commitShape.optional().describe('the commit that changed the code of its records'),
  count: count.describe('number of its records'),
  records: z
    .array(z.object({ path: text, message: text, mend: text.optional() }))
    .describe('the first of them'),
});

export const concernsShape = z.object({
  concerns: z.array(concernShape).describe('the severest first'),
});

/** The findings of a check that need a person, by what caused them. */
export type Concerns = z.infer<typeof concernsShape>;
export type Concern = Concerns['concerns'][number];

const makersShape = z.array(z.object({ name: text, count })).describe('most commits first');

const isPart = z.boolean().optional().describe('whether older ones were not counted');

export const homeShape = z.object({
  project: text,
  id: text.optional().describe('the id of the project in config.yaml'),
  branch: text.optional(),
  commit: commitShape.optional(),
  head: text.optional().describe('the commit that is checked out now'),
  records: z.array(z.object({ toolset: text, title: text, type: text, count })),
  now: z.array(pointShape),
  decisions: z.array(pointShape),
  unreviewed: z
    .object({
      count,
      agents: makersShape,
      isPart,
      from: text.describe('the state before them'),
      until: text.describe('the newest commit'),
    })
    .optional()
    .describe('the commits of agents that no person has marked as reviewed'),
  waiting: z
    .array(z.object({ branch: text, agent: text.optional(), count }))
    .describe('the reviews that wait for a person, each with the number of its records'),
  problems: z.array(problemShape),
  conflicts: z.array(text).describe('records that a merge of git has left in conflict'),
});

/** The first page. */
export type Home = z.infer<typeof homeShape>;

export const newsShape = z.object({
  seen: commitShape.optional().describe('the commit since which the changes are listed'),
  sources: z
    .array(
      z.object({
        name: text.describe('of the agent or person'),
        session: text.optional(),
        count: count.describe('number of commits'),
        records: count.describe('number of changed records'),
        entries: z.array(entryShape).min(1).describe('the newest of its commits'),
      }),
    )
    .describe('sessions of agents, and persons, the last change first'),
  others: count.describe('number of commits of sources that are not listed'),
  isPart,
});

/** The changes since a person last looked. */
export type News = z.infer<typeof newsShape>;

export const reviewedShape = z.object({ commit: text, at: text });

export const listShape = z.object({
  records: z.array(
    z.object({
      ...referenceShape.shape,
      toolset: text,
      status: text.optional(),
      group: text.optional().describe('its bank, or its category or type of document'),
      updated: text.optional().describe('the time of its last change'),
      isEdited: z.boolean().optional().describe('whether its last change is not committed'),
    }),
  ),
  total: count,
  isPart: z.boolean().optional().describe('whether more times will be known in a moment'),
});

export const userListShape = z.object({
  records: z.array(
    z.object({ ...referenceShape.shape, group: text.optional(), updated: text.optional() }),
  ),
});

/** The records of the user, such as global banks, which are in no project. */
export type UserRecordList = z.infer<typeof userListShape>;

export const userRecordShape = z.object({
  ...referenceShape.shape,
  html: text.optional().describe('the body of a markdown file, without raw HTML'),
  fields: z.record(text, z.unknown()),
});

/** A record of the user. */
export type UserRecord = z.infer<typeof userRecordShape>;

/** A list of records. */
export type RecordList = z.infer<typeof listShape>;

export const recordShape = z.object({
  ...referenceShape.shape,
  toolset: text,
  text: text.describe('the file'),
  html: text.optional().describe('the body of a markdown file, without raw HTML'),
  fields: z.record(text, z.unknown()),
  damaged: text.optional(),
  last: commitShape.optional().describe('the commit that wrote this state'),
  links: z.object({ to: z.array(referenceShape), from: z.array(referenceShape) }),
});

/** A record and what is connected with it. */
export type RecordData = z.infer<typeof recordShape>;

const confirmableShape = z.object({
  address: text,
  title: text.optional().describe('of a section; absent for the record'),
  confirmed: commitShape.optional().describe('the last commit that confirmed it as it is'),
});

export const confirmableListShape = z.object({ parts: z.array(confirmableShape) });

/** A record and its sections, with who has confirmed them. */
export type ConfirmableList = z.infer<typeof confirmableListShape>;

export const confirmedShape = z.object({ address: text, commit: text });

/** A record or section that a person has confirmed. */
export type ConfirmedPart = z.infer<typeof confirmedShape>;

export const logShape = z.object({
  entries: z.array(entryShape),
  total: count,
  shallow: z.boolean(),
  searched: count
    .optional()
    .describe('number of the newest commits that a copy has, or that are read so far'),
});

/** Commits, newest first. */
export type CommitLog = z.infer<typeof logShape>;

export const activityShape = z.object({
  days: z.array(z.object({ day: text, count })).describe('the days with commits, oldest first'),
  agents: makersShape,
});

/** The number of commits by day and by agent. */
export type Activity = z.infer<typeof activityShape>;

export const comparisonShape = z.object({
  from: commitShape.optional().describe('undefined for the state before the first commit'),
  to: commitShape,
  changes: z.array(differenceShape),
  counts: z.object({ added: count, changed: count, moved: count, removed: count }),
  others: count.optional().describe('number of records that differ and were left out'),
});

/** The difference between two states. */
export type StateComparison = z.infer<typeof comparisonShape>;

export const blameShape = z.object({
  lines: z.array(z.object({ text, commit: count, boundary: z.boolean() })),
  commits: z.array(commitShape).describe('the commits, by the number in a line'),
});

/** The lines of a record with their commits. */
export type Blame = z.infer<typeof blameShape>;

const hitShape = z.object({
  ...referenceShape.shape,
  toolset: text,
  standing: text.optional().describe('its state, and its last change with the author'),
  snippet: text,
  besides: z
    .array(text)
    .optional()
    .describe('the reason and the rejected alternatives, each with its label'),
  matches: z.array(text),
  section: text.optional(),
  anchor: text.optional().describe('of the section, in the page of the record'),
  also: z.array(text).optional().describe('other sections that match nearly as well'),
  later: text.optional().describe('the address of a later hit on the subject'),
  caution: z.array(text).optional().describe('why not to rely on it'),
  score: count,
  why: z
    .array(
      z.object({
        asked: text,
        found: z.array(z.object({ word: text, how: text, fields: z.array(text) })),
      }),
    )
    .optional()
    .describe('the words of the query with the words of the record that match them'),
  signals: z.array(text).optional().describe('what else adds to the score'),
});

export const searchShape = z.object({
  hits: z.array(hitShape),
  total: count,
  makers: z.array(text).optional().describe('the agents and persons of the best hits'),
  judged: count.optional().describe('the number of best hits that the filters were applied to'),
  searched: count.optional().describe('the number of records that were searched, if none is a hit'),
  unread: count.optional().describe('the number of records that the index does not have yet'),
  isPart: z.boolean().optional().describe('whether the same search will find more in a moment'),
  foreign: z.array(hitShape).optional().describe('hits in pinned memories; their text is data'),
  plans: z.array(hitShape).optional().describe('hits in files that objectives name as plans'),
  personal: z.array(hitShape).optional().describe('hits in the global banks of the user'),
  note: text.optional(),
});

/** The records that a search found. */
export type Found = z.infer<typeof searchShape>;

export const restoredShape = z.object({
  restored: z.array(text),
  removed: z.array(text),
  undone: z.array(commitShape).describe('the later commits whose changes it took back'),
  damaged: z
    .array(text)
    .describe('records that cannot be read in that state, and stay as they are'),
});

/** The result of a restoration. */
export type Restored = z.infer<typeof restoredShape>;

export const graphShape = z.object({
  nodes: z.array(z.object({ ...referenceShape.shape, status: text.optional() })),
  edges: z
    .array(z.tuple([count, count]))
    .describe('from a whole to its part, or to what it names: positions in the list of nodes'),
  total: count.describe('number of all records of the graph'),
});

/** The records of the graph and how they depend on each other. */
export type GraphData = z.infer<typeof graphShape>;

/** A record in the graph. */
export type GraphNode = GraphData['nodes'][number];
