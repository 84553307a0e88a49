// The clients that are run: where npm has them, and how each gets a model, trust and one prompt.
import { claudeCode } from './entry/claude-code.js';
import { cline } from './entry/cline.js';
import { codex } from './entry/codex.js';
import { continueCli } from './entry/continue.js';
import { copilotCli } from './entry/copilot-cli.js';
import { droid } from './entry/droid.js';
import { geminiCli } from './entry/gemini-cli.js';
import { kilo } from './entry/kilo.js';
import { opencode } from './entry/opencode.js';
import { qwenCode } from './entry/qwen-code.js';

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./pretend-model.js').Call} Call */

/**
 * A client that runs without an account.
 *
 * @typedef {object} Entry
 * @property {string} title
 * @property {string} client a word for the command line, which is also its name in `init --clients`.
 * @property {string} spec its npm package with the version.
 * @property {string} program the path of its program in the folder of the installation.
 * @property {string} wire
 * @property {RegExp} agent the name under which it introduces itself to the server.
 * @property {(scene: Scene, url: string) => void} prepare writes its own settings, before `init`.
 * @property {(scene: Scene) => void} setUp registers the server and the hooks.
 * @property {(scene: Scene) => void} [trust] does what it wants from a user after `init`.
 * @property {string} trusted that step in words.
 * @property {'stops' | 'goes on without' | 'uses it'} [pending] its act without a prompt, while the step is missing.
 * @property {(url: string, scene: Scene) => Record<string, string>} env
 * @property {(prompt: string, url: string) => readonly string[]} args
 * @property {(name: string) => Call} [find] a call by which it describes a tool that it has only listed by name.
 * @property {(scene: Scene, path: string) => Call} [edit] a call of its own tool that uses a file.
 * @property {readonly string[]} gets the moments at which the memory reaches its model: start, prompt, edit.
 */

/** @type {readonly Entry[]} */
export const entries = [
  claudeCode,
  codex,
  geminiCli,
  copilotCli,
  opencode,
  kilo,
  qwenCode,
  continueCli,
  droid,
  cline,
];

/**
 * The clients that npm has and that do not run here, with the reason.
 *
 * @type {readonly { readonly title: string, readonly spec: string, readonly reason: string }[]}
 */
export const notRun = [
  {
    title: 'Amp',
    spec: '@ampcode/cli@0.0.1790142911-g7618fb',
    reason:
      'its model is a service of its own, and it wants an account there: it ends with "API request for getUserInfo failed" before it reads a prompt',
  },
  {
    title: 'Crush',
    spec: '@charmland/crush@0.96.1',
    reason: 'the package only has an installer, which downloads the program from GitHub',
  },
];
