import { MemoryError } from '../core/error.ts';
import type { Oid } from './object.ts';

/** What a server made of a push. */
export interface Report {
  /** Undefined where it took the push; else why it did not. */
  readonly refusal: string | undefined;
  /** What it has to say besides, as the lines that git prints after "remote:". */
  readonly messages: string;
}

const flush = Buffer.from('0000');
const agent = 'agent=memory-bank';
const nothing = '0'.repeat(40);

/**
 * The request for a commit and everything behind it that is not here (gitprotocol-pack, "Packfile
 * Negotiation"): all that there is to say in one round.
 *
 * @param known commits that are here.
 * @param shallow commits whose parents are not.
 */
export function wantRequest(
  want: Oid,
  known: readonly Oid[],
  shallow: readonly Oid[],
  offered: ReadonlySet<string>,
): Buffer {
  const abilities = ['ofs-delta', 'side-band-64k', 'no-progress'].filter((one) => offered.has(one));
  return Buffer.concat([
    packet(`want ${want} ${[...abilities, agent].join(' ')}\n`),
    ...(offered.has('shallow') ? shallow : []).map((oid) => packet(`shallow ${oid}\n`)),
    flush,
    ...known.map((oid) => packet(`have ${oid}\n`)),
    packet('done\n'),
  ]);
}

/** The objects in the answer to `wantRequest`. */
export function readPack(answer: Buffer, offered: ReadonlySet<string>): Buffer {
  let at = 0;
  for (const line of packets(answer)) {
    const text = line.content.toString('latin1', 0, 8);
    if (/^(?:ACK|NAK|shallow|unshallo)/.test(text)) at = line.end;
    else break;
  }
  const rest = answer.subarray(at);
  return offered.has('side-band-64k') ? demultiplex(rest).data : rest;
}

/** The request to move a branch (gitprotocol-pack, "Pushing Data To a Server"). */
export function pushRequest(
  ref: string,
  from: Oid | undefined,
  to: Oid,
  pack: Buffer,
  offered: ReadonlySet<string>,
): Buffer {
  const abilities = ['report-status', 'side-band-64k'].filter((one) => offered.has(one));
  const command = `${from ?? nothing} ${to} ${ref}\0${[...abilities, agent].join(' ')}`;
  return Buffer.concat([packet(command), flush, pack]);
}

/** What the answer to `pushRequest` says of the branch. */
export function readReport(answer: Buffer, offered: ReadonlySet<string>): Report {
  const { data, messages } = offered.has('side-band-64k')
    ? demultiplex(answer)
    : { data: answer, messages: '' };
  let refusal: string | undefined = 'it did not say what became of the push';
  for (const { content } of packets(data)) {
    const [word = '', ...rest] = content.toString('utf8').trimEnd().split(' ');
    if (word === 'unpack' && rest.join(' ') !== 'ok') return { refusal: rest.join(' '), messages };
    if (word === 'ok') refusal = undefined;
    if (word === 'ng') refusal = rest.slice(1).join(' ');
  }
  return { refusal, messages };
}

function packet(text: string): Buffer {
  const content = Buffer.from(text, 'utf8');
  return Buffer.concat([lengthOf(content), content]);
}

function lengthOf(content: Buffer): Buffer {
  return Buffer.from((content.length + 4).toString(16).padStart(4, '0'), 'latin1');
}

/** The packets that carry something (gitprotocol-common, "pkt-line Format"). */
function* packets(bytes: Buffer): Generator<{ readonly content: Buffer; readonly end: number }> {
  for (let at = 0; at < bytes.length; ) {
    const digits = bytes.toString('latin1', at, at + 4);
    const length = Number.parseInt(digits, 16);
    if (!/^[0-9a-f]{4}$/i.test(digits) || (length < 4 && length > 2)) throw garbled();
    const end = at + Math.max(length, 4);
    if (end > bytes.length) throw garbled();
    const content = bytes.subarray(at + 4, end);
    if (content.toString('latin1', 0, 4) === 'ERR ') {
      throw new MemoryError('remote', `The remote refuses: ${oneLine(content.subarray(4))}.`);
    }
    if (length > 4) yield { content, end };
    at = end;
  }
}

/** Divides what a server says on several bands (gitprotocol-capabilities, "side-band-64k"). */
function demultiplex(bytes: Buffer): { readonly data: Buffer; readonly messages: string } {
  const data: Buffer[] = [];
  const messages: Buffer[] = [];
  for (const { content } of packets(bytes)) {
    const [band] = content;
    const rest = content.subarray(1);
    if (band === 1) data.push(rest);
    else if (band === 2) messages.push(rest);
    else if (band === 3) throw new MemoryError('remote', `The remote failed: ${oneLine(rest)}.`);
    else throw garbled();
  }
  return { data: Buffer.concat(data), messages: Buffer.concat(messages).toString('utf8') };
}

function oneLine(bytes: Buffer): string {
  return bytes.toString('utf8').replace(/\s+/g, ' ').trim().replace(/\.$/, '').slice(0, 500);
}

function garbled(): MemoryError {
  return new MemoryError('remote', 'The answer of the remote is not what a git server says.', {
    hint: 'Look whether the address of the remote is right: "git remote -v".',
  });
}
