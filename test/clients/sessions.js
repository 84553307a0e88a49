// The sessions of a client, and what must be true in each.
import { cited, prompt, Scene } from './scene.js';

/** @typedef {import('./entries.js').Entry} Entry */
/** @typedef {import('./pretend-model.js').Asked} Asked */
/** @typedef {import('./pretend-model.js').Reply} Reply */
/** @typedef {import('./scene.js').Installed} Installed */
/** @typedef {Awaited<ReturnType<typeof import('./pretend-model.js').startModel>>} Model */

/**
 * The result of all sessions of a client.
 *
 * @typedef {{ readonly connects: boolean, readonly start: boolean, readonly prompt: boolean,
 *   readonly edit: boolean, readonly faults: readonly string[] }} Result
 */

const tool = 'log_decision';
const final = 'This is the last answer of the pretend model.';

/** The texts by which each moment of the memory is known. */
const moments = {
  start: '## Current work',
  prompt: '## Records about the prompt',
  edit: `about ${cited} (quoted`,
};

/**
 * Runs a client in four sessions: two with this program, one without it, one with an older one.
 *
 * @param {Entry} entry
 * @param {string} program
 * @param {Model} model
 * @param {(line: string) => void} show
 * @returns {Promise<Result>}
 */
export async function tryClient(entry, program, model, show) {
  const scene = new Scene(entry.client);
  /** @type {string[]} */
  const faults = [];
  /** @param {Installed} installed @param {string} title */
  const session = async (installed, title) => {
    model.script(scripted(entry, scene, title));
    const env = { ...scene.env(installed), ...entry.env(model.url, scene) };
    const ended = await scene.run([program, ...entry.args(prompt, model.url)], env);
    const asked = model.asked().filter(({ tools }) => tools.length > 0);
    const last = asked.at(-1)?.text ?? '';
    show(`${installed}: ${asked.length} requests, status ${ended.status}, ${ended.ms} ms`);
    show(
      `tools: ${asked
        .at(-1)
        ?.tools.map(({ name }) => name)
        .join(' ')}`,
    );
    show(ended.output);
    if (model.unknown().length > 0) show(`not of the wire: ${model.unknown().join(', ')}`);
    /** @param {boolean} isTrue @param {string} fault */
    const expect = (isTrue, fault) => {
      if (!isTrue) faults.push(`${title}: ${fault}`);
    };
    expect(ended.status === 0, `it ended with ${ended.status}: ${ended.output.slice(-2000)}`);
    expect(ended.output.includes(final), 'the last answer of the model was not printed');
    expect(last.includes(prompt), 'the model did not receive the prompt');
    expect(
      asked.every(({ wire }) => wire === entry.wire),
      `it spoke ${asked.map(({ wire }) => wire).join(', ')}`,
    );
    return { asked, last, expect };
  };

  try {
    entry.prepare(scene, model.url);
    entry.setUp(scene);
    scene.git('add', '.');
    scene.git('commit', '-q', '--allow-empty', '-m', 'Set up the clients');
    if (entry.pending) faults.push(...(await faultsBeforeTrust(entry, program, model, scene)));
    entry.trust?.(scene);
    const one = await session('this', 'first session');
    const commits = [agentOfLast(scene, 'first session')];
    const two = await session('this', 'second session');
    commits.push(agentOfLast(scene, 'second session'));
    for (const [index, agent] of commits.entries()) {
      const { expect } = [one, two][index] ?? one;
      expect(agent !== undefined, 'the call made no commit');
      expect(entry.agent.test(agent ?? ''), `the commit is by "${agent}", not ${entry.agent}`);
    }
    for (const [moment, mark] of Object.entries(moments)) {
      const isExpected = entry.gets.includes(moment);
      for (const { last, expect } of [one, two]) {
        const times = last.split(mark).length - 1;
        expect(times === (isExpected ? 1 : 0), `"${moment}" arrived ${times} times`);
      }
    }
    if (entry.gets.includes('start')) {
      two.expect(
        two.asked[0]?.text.includes('first session') === true,
        'its brief has not the decision of the first session',
      );
    }
    for (const installed of /** @type {const} */ (['missing', 'older'])) {
      const { last, expect } = await session(installed, `${installed} program`);
      for (const [moment, mark] of Object.entries(moments)) {
        expect(!last.includes(mark), `"${moment}" arrived from a program that is not there`);
      }
    }
    const arrived = Object.entries(moments).map(([moment, mark]) => [
      moment,
      one.last.includes(mark),
    ]);
    return { connects: commits[0] !== undefined, ...Object.fromEntries(arrived), faults };
  } finally {
    scene.remove();
  }
}

/**
 * Runs a client that was not trusted yet: it may stop, but the memory must not arrive in part, and `doctor` says it.
 *
 * @param {Entry} entry @param {string} program @param {Model} model @param {Scene} scene
 * @returns {Promise<string[]>}
 */
async function faultsBeforeTrust(entry, program, model, scene) {
  model.script(() => ({ text: final }));
  const env = { ...scene.env('this'), ...entry.env(model.url, scene) };
  const ended = await scene.run([program, ...entry.args(prompt, model.url)], env);
  const asked = model.asked();
  const isUsed = asked.some(({ text, tools }) =>
    /memory-bank.{1,2}log_decision/.test(text + names(tools)),
  );
  const acts = asked.length === 0 ? 'stops' : isUsed ? 'uses it' : 'goes on without';
  const faults = [];
  if (acts !== entry.pending) faults.push(`not trusted: it ${acts}: ${ended.output.slice(-2000)}`);
  const act = acts === 'uses it' ? 'has no approval of the server yet' : 'does not use that yet';
  if (!scene.memoryBank('doctor').includes(`${entry.title} ${act}`))
    faults.push(`not trusted: doctor does not say that it ${act}`);
  return faults;
}

/** @param {Asked['tools']} tools */
const names = (tools) => tools.map(({ name }) => name.replace(/^mcp_+/, '')).join(' ');

/** Returns the agent in the commit of a session's decision. @param {Scene} scene @param {string} title */
function agentOfLast(scene, title) {
  const format = '--format=%(trailers:key=Memory-Agent,valueonly)';
  const found = scene.git('log', '-1', '--fixed-strings', `--grep=log decision "${title}"`, format);
  return found.trim() || undefined;
}

/**
 * The script of the model in a session: a call of our tool, one of the client's own for a file, then the last answer.
 *
 * @param {Entry} entry @param {Scene} scene @param {string} title of the decision that the model logs.
 * @returns {(asked: Asked) => Reply}
 */
function scripted(entry, scene, title) {
  const args = { title, context: 'The prompt', decision: 'Keep the expiry of the tokens' };
  const done = new Set();
  /** @param {string} step */
  const isNext = (step) => !done.has(step) && Boolean(done.add(step));
  return ({ tools, text }) => {
    // A request for a title or a summary has no tools.
    if (tools.length === 0) return { text: 'A title' };
    const offered = tools.find(({ name }) => name.endsWith(tool));
    // Claude Code lists the tools of servers by name, and describes those that the model looks for.
    const listed = offered ? undefined : /[\w-]*memory-bank_+log_decision\b/.exec(text)?.[0];
    if (listed && entry.find && isNext('find')) return { call: entry.find(listed) };
    const own = offered ?? (listed ? { name: listed } : undefined);
    if (own && isNext('log')) return { call: { ...own, args } };
    if (entry.edit && isNext('edit')) return { call: entry.edit(scene, cited) };
    return { text: final };
  };
}
