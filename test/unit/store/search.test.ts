import { describe, expect, test } from 'vitest';
import type { SearchFields } from '../../../src/core/record/record-type.ts';
import { SearchIndex, type SearchOptions } from '../../../src/store/search/index.ts';
import { aliasesOf } from '../../../src/store/search/query/own-aliases.ts';
import { smallTable } from '../../support/small-table.ts';

/** An index of documents by id; a text alone is the body of a document without a title. */
function index(documents: { [id: string]: string | SearchFields }): SearchIndex {
  const made = new SearchIndex();
  for (const [id, fields] of Object.entries(documents)) {
    made.upsert({ id, fields: typeof fields === 'string' ? { title: '', body: fields } : fields });
  }
  return made;
}

function ids(made: SearchIndex, query: string, options?: SearchOptions): string[] {
  return made.search(query, options).hits.map((hit) => hit.id);
}

function first(made: SearchIndex, query: string, options?: SearchOptions) {
  const [hit] = made.search(query, options).hits;
  if (hit === undefined) throw new Error(`nothing found for ${query}`);
  return hit;
}

describe('words', () => {
  const storage = index({
    postgres: 'We use postgres for storage.',
    redis: 'We use redis for the cache.',
    logs: 'Logs go to stdout.',
  });

  test.each(['postgres storage', 'storage in postgres', 'Storage: POSTGRES?'])(
    'in any order and with others between them: %s',
    (query) => expect(ids(storage, query)).toEqual(['postgres']),
  );

  test('need not all be present; documents with more of them come first', () => {
    expect(ids(storage, 'redis cache storage')).toEqual(['redis', 'postgres']);
  });

  test('are found far from the beginning of a text', () => {
    const made = index({ long: `${'lorem ipsum '.repeat(20_000)}watermelon`, short: 'dolor' });
    expect(ids(made, 'watermelon')).toEqual(['long']);
  });

  test('match in their other English forms', () => {
    const made = index({ a: 'Cached queries are invalidated by migrations.', b: 'Nothing here.' });
    for (const query of ['cache', 'caching', 'query', 'invalidate', 'migration']) {
      expect(ids(made, query)).toEqual(['a']);
    }
  });

  test('that are stop words do not count next to others', () => {
    expect(ids(storage, 'what do we use for the cache')).toEqual(['redis']);
  });

  test('that are stop words count if there are no others', () => {
    const made = index({ a: 'To be or not to be.', b: 'Something else.' });
    expect(ids(made, 'to be or not to be')).toEqual(['a']);
  });

  test('near each other rank above words far apart', () => {
    const filler = 'alpha beta gamma delta epsilon zeta eta theta iota kappa '.repeat(3);
    const made = index({
      apart: `The retry policy is here. ${filler} Some budget is there.`,
      near: `The retry budget is here. ${filler} Some policy is there.`,
    });
    expect(ids(made, 'retry budget')).toEqual(['near', 'apart']);
  });

  test('in one passage of a long text rank above words scattered over it', () => {
    const filler = 'Sentences about unrelated matters follow each other. '.repeat(60);
    const made = index({
      strewn: `Rollback. ${filler} Staging. ${filler} Checksum. ${filler}`,
      together: `${filler}${filler} A rollback may leave, as the runbook has it, on the machines of staging some wrong checksum. ${filler}`,
    });
    expect(ids(made, 'rollback staging checksum')[0]).toBe('together');
  });
});

describe('identifiers', () => {
  const made = index({
    camel: 'Set maxRetryCount before the call.',
    snake: 'The column created_at is indexed.',
    kebab: 'Pass --dry-run first.',
    path: 'See src/store/memory-store.ts for it.',
    acronym: 'HTTPServer2 parses userIDs.',
    name: 'Deployed to GitHub.',
    version: 'Requires 3.15.',
    language: 'Written in C++.',
  });

  test.each([
    ['retry count', 'camel'],
    ['max_retry_count', 'camel'],
    ['maxretrycount', 'camel'],
    ['createdAt', 'snake'],
    ['created-at', 'snake'],
    ['createdat', 'snake'],
    ['dryRun', 'kebab'],
    ['MemoryStore', 'path'],
    ['memory-store.ts', 'path'],
    ['src/store/memory-store.ts', 'path'],
    ['http server', 'acronym'],
    ['user id', 'acronym'],
    ['github', 'name'],
    ['git hub', 'name'],
    ['3.15', 'version'],
    ['c++', 'language'],
  ])('%s finds %s', (query, id) => expect(first(made, query).id).toBe(id));

  test('the whole counts more than its parts in any order', () => {
    const two = index({ parts: 'store a memory in memory', whole: 'call memoryStore with it' });
    expect(ids(two, 'memoryStore')[0]).toBe('whole');
  });

  test('two words find their compound', () => {
    expect(ids(index({ a: 'the filename', b: 'a name' }), 'file name')[0]).toBe('a');
  });

  test('a compound finds its two words', () => {
    const made = index({ a: 'the database connection', b: 'another text' });
    expect(ids(made, 'databaseconnection')).toEqual(['a']);
  });
});

describe('abbreviations', () => {
  const made = index({
    cluster: 'We deploy on Kubernetes.',
    pool: 'The db pool has ten members.',
    store: 'The database is PostgreSQL.',
    text: 'Nothing about it.',
  });

  test.each([
    ['k8s', ['cluster']],
    ['K8S deployment', ['cluster']],
    ['pg', ['store']],
  ])('%s finds the full word', (query, expected) => expect(ids(made, query)).toEqual(expected));

  test('both forms are found, the one that was asked for first', () => {
    expect(ids(made, 'db')).toEqual(['pool', 'store']);
    expect(ids(made, 'databases')).toEqual(['store', 'pool']);
  });

  test('a common abbreviation leaves a rare word its weight', () => {
    const rare = index({
      rare: 'The configuration of the proxy.',
      ...Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`m${at}`, 'proxy cfg'])),
    });
    expect(ids(rare, 'configuration')[0]).toBe('rare');
    const hit = first(rare, 'configuration proxy', { explain: true });
    expect(hit.id).toBe('rare');
  });

  test('an explanation names them, and adds up', () => {
    const { score, explanation } = first(made, 'databases pool', { explain: true });
    const parts = [
      ...(explanation?.words ?? []).map(({ added }) => added),
      ...Object.values(explanation?.signals ?? {}),
    ];
    expect(parts.reduce((sum, part) => sum + part, 0)).toBeCloseTo(score, 3);
    expect(explanation?.words[0]).toMatchObject({
      asked: 'databases',
      found: [{ word: 'db', how: 'abbreviation', fields: ['body'] }],
    });
  });
});

describe('synonyms', () => {
  const made = index({
    images: 'Remove the old pictures.',
    login: 'Users authenticate with a token.',
    other: 'The picture of the user.',
  });

  test('find a text that says the same in another word', () => {
    expect(ids(made, 'delete images')).toEqual(['images', 'other']);
    expect(ids(made, 'discard')).toEqual(['images']);
    const { explanation } = first(made, 'signin', { explain: true });
    expect(explanation?.words[0]).toMatchObject({
      asked: 'signin',
      found: [{ word: 'authenticate', how: 'synonym', fields: ['body'] }],
    });
  });
});

describe('synonyms of the memory itself', () => {
  const made = index({
    plan: 'The Kranplan is checked each morning.',
    tenant: 'Each Mandant has a schema.',
    code: 'JobTicket2 starts the transport.',
    other: 'Each tenant pays by month, and each morning.',
  });
  const aliases = aliasesOf([
    ['tenant', 'Mandanten', 'customer'],
    ['crane', 'KRANPLAN'],
    ['job', 'JobTicket2'],
    ['alone', 'alone'],
  ]);

  test('find a text as if it had the word itself', () => {
    expect(ids(made, 'tenant schema', { aliases })).toEqual(['tenant', 'other']);
    expect(ids(made, 'crane', { aliases })).toEqual(['plan']);
    expect(ids(made, 'Kranplan', { aliases })).toEqual(['plan']);
    expect(ids(made, 'job', { aliases })).toEqual(['code']);
    expect(ids(made, 'crane')).toEqual([]);
    expect(ids(made, 'alone', { aliases })).toEqual([]);
  });

  test('count nearly like the word, and the explanation names them', () => {
    const word = first(made, 'Kranplan').score;
    const { score, explanation } = first(made, 'crane', { aliases, explain: true });
    expect(score).toBeGreaterThan(0.9 * word);
    expect(score).toBeLessThanOrEqual(word);
    expect(explanation?.words[0]).toMatchObject({
      asked: 'crane',
      found: [{ word: 'kranplan', how: 'alias', fields: ['body'] }],
    });
  });

  test('leave no room for other meaning', () => {
    const table = smallTable();
    const login = index({ a: 'A jwt for each session.', b: 'Each Ausweis is signed.' });
    const own = aliasesOf([['authentication', 'Ausweis']]);
    expect(ids(login, 'authentication', { table })[0]).toBe('a');
    expect(ids(login, 'authentication', { table, aliases: own })).toEqual(['b']);
  });
});

describe('a text about little else than the query', () => {
  const rest = 'alder birch cedar damson elder fir gorse hazel iris juniper';
  const made = new SearchIndex();
  made.upsert({ id: 'a', fields: { title: 'first', body: `queue retry ${rest}`, notes: 'one' } });
  made.upsert({ id: 'b', fields: { title: 'second', body: 'queue retry', notes: rest } });

  test('comes first, and the explanation says so', () => {
    const [best, other] = made.search('queue retry', { explain: true }).hits;
    expect(best?.id).toBe('b');
    const fit = best?.explanation?.signals.fit ?? 0;
    expect(fit).toBeGreaterThan(0);
    expect(fit).toBeGreaterThan(other?.explanation?.signals.fit ?? 0);
  });

  test('does not count where the search does not look at its field', () => {
    const [hit] = made.search('queue', { fields: ['title', 'body'], explain: true }).hits;
    expect(hit?.explanation?.signals.fit).toBeGreaterThan(0);
    made.upsert({ id: 'c', fields: { title: 'queue of things', body: 'retry' } });
    const { hits } = made.search('retry', { fields: ['body'], explain: true });
    expect(hits[0]?.id).toBe('c');
  });
});

describe('misspelt and partial words', () => {
  const made = index({
    auth: 'Authentication uses signed tokens.',
    database: 'The database is PostgreSQL.',
    deploy: 'Deployment needs an environment variable.',
    memory: 'Look at memoryStore.',
  });

  test.each([
    ['databse', 'database'],
    ['dtaabase', 'database'],
    ['databasse', 'database'],
    ['datobase', 'database'],
    ['athentiction', 'auth'],
    ['enviroment varable', 'deploy'],
    ['memroyStore', 'memory'],
    ['memorySotre', 'memory'],
    ['singed', 'auth'],
    ['deplyo', 'deploy'],
    ['auth', 'auth'],
    ['deploym', 'deploy'],
    ['environ', 'deploy'],
    ['ostgre', 'database'],
  ])('%s finds %s', (query, id) => expect(ids(made, query)).toEqual([id]));

  test('a word in the index is not treated as a typo of another', () => {
    const two = index({ form: 'the form', from: 'a farm' });
    expect(ids(two, 'form')).toEqual(['form']);
  });

  test('a typo in one entry does not hide the entries with the correct word', () => {
    const entries = { slip: 'databse-chioce', right: 'database-choice' };
    const made = index({ ...entries, other: 'the choice of a queue', more: 'a database of birds' });
    expect(ids(made, 'databse')).toEqual(['slip', 'more', 'right']);
    expect(ids(made, 'databse-chioce').slice(0, 2)).toEqual(['slip', 'right']);
    expect(ids(made, 'database')).not.toContain('slip');
  });

  test('a misspelt word also finds the synonyms of the word', () => {
    const made = index({
      word: 'A dictionary of words.',
      synonym: 'Returns a map.',
      other: 'A dog.',
    });
    expect(ids(made, 'dictioanry')).toEqual(['word', 'synonym']);
  });

  test('of three letters, a missing one is found, and another word is not', () => {
    const made = index({
      law: 'The GDPR applies.',
      past: 'It was late.',
      place: 'The west of China.',
    });
    expect(ids(made, 'GDR')).toEqual(['law']);
    expect(ids(made, 'wos')).toEqual([]);
  });

  test('a word unlike any other finds nothing', () => {
    expect(made.search('xylophone quartz')).toEqual({ hits: [], total: 0 });
  });
});

describe('scripts', () => {
  test.each([
    ['Chinese', '我们使用数据库存储会话', '今天天气很好', '数据库'],
    ['Chinese, other words between', '数据在本地存储', '今天天气很好', '存储数据'],
    ['one Chinese letter', '猫在睡觉', '狗在跑', '猫'],
    ['Japanese', 'データベースの設定を変更する', '天気がいい', 'データベース設定'],
    ['Korean', '데이터베이스를 설정합니다', '날씨가 좋다', '데이터베이스'],
    ['Thai', 'เราใช้ฐานข้อมูลสำหรับการจัดเก็บ', 'อากาศดีวันนี้', 'ฐานข้อมูล'],
    ['Cyrillic', 'Ещё одна БАЗА данных', 'Погода', 'еще база'],
    ['Greek', 'Η βάση δεδομένων ΤΟΠΟΣ', 'ο καιρός', 'βαση τοπος'],
    ['Arabic', 'قاعدة البيانات أحمد', 'الطقس جميل', 'احمد'],
    ['Hebrew', 'מסד הנתונים שָׁלוֹם', 'מזג האוויר', 'שלום'],
    ['Hindi', 'डेटाबेस में सहेजें', 'मौसम अच्छा है', 'डेटाबेस'],
    ['accents', 'Der Résumé-Parser für Straßen', 'nichts', 'resume strassen fur'],
    ['decomposed accents', 'cafe\u0301 crème', 'thé', 'CAFÉ'],
    ['Turkish', 'İstanbul ışık', 'Ankara', 'istanbul ISIK'],
    ['full-width', 'ＡＰＩ key', 'lock', 'api'],
    ['two scripts in one word', '使用PostgreSQL数据库', '今天天气很好', 'postgresql'],
  ])('%s', (_, text, other, query) => {
    expect(ids(index({ text, other }), query)[0]).toBe('text');
  });

  test('й is not и, and half of a pair of letters does not match', () => {
    expect(ids(index({ a: 'мой', b: 'мои' }), 'мои')).toEqual(['b']);
    expect(ids(index({ a: '数学', b: '据点' }), '数据')).toEqual([]);
  });
});

describe('ranking', () => {
  test('the same text counts most in the title, then in the body, the reason, the notes', () => {
    const text = 'rate limiting';
    const rest = { title: 'other', body: 'other', reason: 'other', notes: 'other' };
    const made = index({
      d_title: { ...rest, title: text },
      c_body: { ...rest, body: text },
      b_reason: { ...rest, reason: text },
      a_notes: { ...rest, notes: text },
    });
    expect(ids(made, text)).toEqual(['d_title', 'c_body', 'b_reason', 'a_notes']);
    expect(ids(made, 'rate')).toEqual(['d_title', 'c_body', 'b_reason', 'a_notes']);
  });

  test('a title that equals the query has the score 1 and is first, with any amount of text', () => {
    const made = index({
      long: { title: 'Config', body: 'unrelated words '.repeat(2_000) },
      ...Object.fromEntries(
        Array.from({ length: 300 }, (_, at) => [
          `x${at}`,
          { title: 'config config', body: 'config' },
        ]),
      ),
    });
    const { hits, total } = made.search('config', { limit: 3 });
    expect(hits.map(({ id, score }) => [id, score === 1])).toEqual([
      ['long', true],
      ['x0', false],
      ['x1', false],
    ]);
    expect(total).toBe(301);
  });

  test('scores fall from below 1 to above 0', () => {
    const made = index({
      a: 'cache cache cache',
      b: 'cache the response',
      c: 'the cache of it all',
    });
    const scores = made.search('cache response').hits.map((hit) => hit.score);
    expect(scores).toHaveLength(3);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    for (const score of scores) expect(score > 0 && score < 1).toBe(true);
  });

  test('documents with the same score are sorted by id, in any order of addition', () => {
    const made = index({ b: 'same text', c: 'same text', a: 'same text' });
    expect(ids(made, 'same')).toEqual(['a', 'b', 'c']);
  });

  test('total counts hits beyond the limit, but not those that the filter excludes', () => {
    const made = index({ a: 'cache', b: 'cache', c: 'cache', d: 'cache' });
    const found = made.search('cache', { limit: 2, filter: (id) => id !== 'a' });
    expect(found.hits.map((hit) => hit.id)).toEqual(['b', 'c']);
    expect(found.total).toBe(3);
  });
});

describe('literal search', () => {
  const made = index({
    upper: { title: 'x', body: 'Uses PostgreSQL 16.' },
    title: { title: 'postgresql', body: 'y' },
    notes: { title: 'x', notes: 'no postgresql here' },
    words: { title: 'x', body: 'Postgres, and SQL.' },
  });

  test('finds the query literally, ignoring case, with score 1, the heavier field first', () => {
    const { hits, total } = made.search('postgreSQL', { fuzzy: false });
    expect(hits.map(({ id, score }) => [id, score])).toEqual([
      ['title', 1],
      ['upper', 1],
      ['notes', 1],
    ]);
    expect(total).toBe(3);
    expect(hits[1]?.matches).toEqual(['PostgreSQL']);
    expect(hits[1]?.snippet).toBe('Uses PostgreSQL 16.');
  });

  test('neither corrects nor stems words', () => {
    expect(ids(made, 'postgresqll', { fuzzy: false })).toEqual([]);
    expect(ids(made, 'using', { fuzzy: false })).toEqual([]);
  });

  test.each(['.*', '[a-z]+', '(', '\\', 'a|b', '$^', '?', '{1}', '/'])(
    '%s is no pattern',
    (sign) => {
      const two = index({ a: `literally ${sign} here`, b: 'abc xyz' });
      expect(ids(two, sign, { fuzzy: false })).toEqual(['a']);
      // Without a letter, there is no word to find.
      if (!/[a-z\d]/.test(sign)) expect(ids(two, sign)).toEqual(['a']);
    },
  );
});

describe('matches and snippet', () => {
  test('matches are pieces of the document', () => {
    const hit = first(
      index({ a: 'Tokens are cached in userSessions.' }),
      'cache token usersession',
    );
    expect(hit.matches).toEqual(['cached', 'Tokens', 'userSessions']);
  });

  test('adjacent pairs of letters are one match', () => {
    expect(first(index({ a: '我们使用数据库存储' }), '数据库').matches).toEqual(['数据库']);
  });

  test('the snippet shows the part with most of the query, in whole sentences', () => {
    const filler = 'Irrelevant words before and after the place. '.repeat(40);
    const { snippet } = first(
      index({ a: `token. ${filler}Every token of a session expires after an hour. ${filler}` }),
      'session token expires',
    );
    expect(snippet).toContain('Every token of a session expires after an hour.');
    expect(snippet.length).toBeLessThan(200);
    expect(snippet).toMatch(/^…[A-Z].*\.…$/);
  });

  test('the snippet of a long sentence is cut between words', () => {
    const filler = 'irrelevant words before and after the place '.repeat(40);
    const { snippet } = first(
      index({ a: `${filler}every token of a session expires ${filler}` }),
      'session token expires',
    );
    expect(snippet).toContain('every token of a session expires');
    expect(snippet.length).toBeLessThan(200);
    for (const word of snippet.slice(1, -1).split(' ')) {
      expect(` ${filler} every token of a session expires `).toContain(` ${word} `);
    }
  });

  test('a snippet never splits a character', () => {
    const made = index({ a: `${'👩‍👩‍👧'.repeat(60)}cache${'👍🏽'.repeat(80)}` });
    const { snippet } = first(made, 'cache');
    expect(snippet).toContain('cache');
    const whole = new Set(['👩‍👩‍👧', '👍🏽', '…', ...'cache']);
    const segments = [...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(snippet)];
    for (const { segment } of segments) expect(whole).toContain(segment);
  });

  test('a match in the title alone shows the beginning of the answer', () => {
    const made = index({ a: { title: 'Rate limits', body: 'Ask first.' } });
    expect(first(made, 'rate').snippet).toBe('Ask first.');
    expect(first(index({ a: { title: 'Rate limits' } }), 'rate').snippet).toBe('Rate limits');
  });
});

describe('hostile input', () => {
  test('names of object properties are words like others', () => {
    const made = index({ a: '__proto__ constructor toString hasOwnProperty', b: 'plain' });
    for (const query of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'proto']) {
      expect(ids(made, query)).toEqual(['a']);
    }
    expect(ids(index({ b: 'plain' }), '__proto__')).toEqual([]);
    const named = index({ __proto__x: 'a', constructor: 'cache' });
    expect(ids(named, 'cache')).toEqual(['constructor']);
  });

  test('a query of a megabyte is answered by its first words', () => {
    const made = index({ a: 'cache', b: 'other' });
    expect(ids(made, `cache ${'unknown words '.repeat(80_000)}`)).toEqual(['a']);
    expect(ids(made, 'A'.repeat(1_000_000))).toEqual([]);
  });

  test('an empty index and an empty query find nothing', () => {
    expect(new SearchIndex().search('anything')).toEqual({ hits: [], total: 0 });
    expect(index({ a: '' }).search('anything')).toEqual({ hits: [], total: 0 });
  });

  test('lone surrogates and control characters do no harm', () => {
    const made = index({ a: '\ud800 cache \0 \udfff' });
    expect(ids(made, 'cache \ud800')).toEqual(['a']);
    expect(ids(made, '\ud800', { fuzzy: false })).toEqual(['a']);
  });
});

describe('fields', () => {
  const made = index({
    titled: { title: 'login session', body: 'the page of the boats' },
    short: { title: 'quay', body: 'login', notes: 'harbour' },
    long: { title: 'login '.repeat(50), body: `login ${'and so on '.repeat(50)}` },
  });

  test('only matches in the requested fields are found, counted and shown', () => {
    const found = made.search('login session', { fields: ['body', 'notes'] });
    expect(found.hits.map(({ id, matches }) => [id, matches])).toEqual([
      ['short', ['login']],
      ['long', ['login']],
    ]);
    expect(found.total).toBe(2);
    expect(ids(made, 'harbour', { fields: ['title', 'body'] })).toEqual([]);
    expect(ids(made, 'harbour', { fields: ['notes'] })).toEqual(['short']);
  });

  test('the same holds for a literal search and for a title that is the query', () => {
    expect(ids(made, 'login', { fields: ['notes'], fuzzy: false })).toEqual([]);
    expect(ids(made, 'ogin', { fields: ['body'], fuzzy: false })).toEqual(['long', 'short']);
    expect(ids(made, 'quay', { fields: ['body'] })).toEqual([]);
  });
});

describe('an explanation', () => {
  const memory = index({
    auth: { title: 'Auth design', body: 'Tokens expire after an hour.', reason: 'Leaked tokens.' },
    logs: { title: 'Logs', body: 'They go to stdout.' },
  });
  const explain = (query: string, options?: SearchOptions) =>
    first(memory, query, { ...options, explain: true }).explanation;

  test('says which words matched, in which fields, and how each was found', () => {
    const found = explain('tokns expiring exp');
    expect(found?.words.map(({ asked, found }) => [asked, found])).toEqual([
      ['tokns', [{ word: 'tokens', how: 'correction', fields: ['body', 'reason'] }]],
      ['expiring', [{ word: 'expire', how: 'form', fields: ['body'] }]],
      ['exp', [{ word: 'expire', how: 'completion', fields: ['body'] }]],
    ]);
  });

  test.each(['tokens', 'tokns expire', 'auth tokens hour', 'Auth design', 'design auth logs'])(
    'adds up to the score of %s',
    (query) => {
      for (const { score, explanation } of memory.search(query, { explain: true }).hits) {
        const signals = Object.values(explanation?.signals ?? {});
        const parts = [...(explanation?.words ?? []).map(({ added }) => added), ...signals];
        expect(Math.min(...parts)).toBeGreaterThanOrEqual(0);
        expect(parts.reduce((sum, part) => sum + part, 0)).toBeCloseTo(score, 3);
      }
    },
  );

  test('names a title that is the query, and a literal match', () => {
    expect(explain('auth design')?.signals).toEqual({ same_title: 1 });
    expect(explain('s exp', { fuzzy: false })).toEqual({
      words: [
        { asked: 's exp', found: [{ word: 's exp', how: 'literal', fields: ['body'] }], added: 1 },
      ],
      signals: {},
    });
  });

  test('is left out unless it is asked for', () => {
    for (const query of ['tokens', '!?', 'kens']) {
      for (const hit of memory.search(query).hits) expect(hit).not.toHaveProperty('explanation');
    }
  });
});
