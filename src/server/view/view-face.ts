import { timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RequestHandler, Response } from 'express';
import type { Auth } from '../http/auth/auth.ts';
import type { Face } from '../http/rest/settings.ts';
import { board, claimTask, createTask, moveTask, releaseTask } from './board-operations.ts';
import { confirmable, confirmRecord } from './confirm-operations.ts';
import { conflicts, resolve } from './conflict-operations.ts';
import { ChangeStreams } from './events.ts';
import { concerns, evidence, verifyRecord } from './evidence-operations.ts';
import { form } from './form-operation.ts';
import { around, graph } from './graph-operation.ts';
import { activity, blame, branches, compare, log, modes } from './history-operations.ts';
import { home } from './home-operation.ts';
import { news } from './news-operation.ts';
import { type MemoryOperation, memoryEndpoint } from './operation.ts';
import { preview, record, records, restore, save } from './record-operations.ts';
import { reviewed } from './review.ts';
import { besideReview } from './review-beside.ts';
import {
  acceptBranch,
  acceptReview,
  correctReview,
  dropReview,
  reviews,
} from './review-operations.ts';
import { undoReview } from './review-undo.ts';
import { search } from './search-operation.ts';
import { userRecord, userRecords } from './user-operations.ts';
import { windowData } from './window-operation.ts';

const operations: readonly MemoryOperation[] = [
  windowData,
  home,
  news,
  records,
  record,
  search,
  graph,
  around,
  board,
  moveTask,
  createTask,
  claimTask,
  releaseTask,
  log,
  activity,
  branches,
  modes,
  evidence,
  concerns,
  verifyRecord,
  compare,
  blame,
  conflicts,
  resolve,
  restore,
  form,
  preview,
  save,
  reviewed,
  reviews,
  acceptReview,
  acceptBranch,
  dropReview,
  correctReview,
  undoReview,
  besideReview,
  confirmable,
  confirmRecord,
  userRecords,
  userRecord,
];

/** The paths of the pages and of their files. */
const pagePath = /^\/view(?:\/|$)/;

/** The files of the pages, by the last part of their paths. */
const files: ReadonlyMap<string, string> = new Map([
  ['page.js', 'text/javascript'],
  ['style.css', 'text/css'],
  ['icon.svg', 'image/svg+xml'],
]);

/** The settings of the pages. */
export interface ViewSettings {
  /** The folder with the bundled files of the pages. */
  readonly folder: string;
  /** The version of this program, with its build. */
  readonly version: string;
  /** A secret that opens one session by `/view?token=`; undefined for none. */
  readonly token?: string;
}

/** Returns the pages for people at `/view`, and the operations that give them data. */
export function viewFace({ folder, version, token }: ViewSettings): Face {
  const streams = new ChangeStreams();
  return {
    isPage: (path) => pagePath.test(path),
    isOperation: (path) => path.startsWith('/memory/'),
    endpoints: (app, sessions, backlog) => {
      const agent = `memory-bank-view/${version}`;
      return [
        ...operations.map((one) => memoryEndpoint(app, sessions, backlog, agent, one)),
        streams.endpoint(app),
      ];
    },
    pages: (auth) => pages(folder, auth, token),
    endStreams: () => streams.end(),
  };
}

function pages(folder: string, auth: Auth, token: string | undefined): RequestHandler {
  let unused = token;
  return async (request, response, next) => {
    const { path } = request;
    if (request.method !== 'GET' || !pagePath.test(path)) return next();
    const given = new URL(request.originalUrl, 'http://localhost').searchParams.get('token');
    if (given !== null) {
      const isRight = unused !== undefined && isSame(given, unused);
      if (isRight) unused = undefined;
      const opened = isRight ? auth.admit(request, response) : undefined;
      // The token leaves the address, so that nobody copies or bookmarks it. A browser sends a fragment
      // to no server: the page takes the secret of its session out of it.
      const fragment = opened ? `#session=${opened.secret}` : '';
      return response.redirect(303, `${request.baseUrl}/view/${fragment}`);
    }
    const name = path.slice('/view/'.length);
    const type = files.get(name);
    const content = await readFile(join(folder, type ? name : 'index.html'), 'utf8');
    restrict(response)
      .type(type ?? 'text/html')
      .send(content);
  };
}

/** Allows a page its own script, style sheet and requests, and nothing else. */
function restrict(response: Response): Response {
  const own = ['script-src', 'style-src', 'img-src', 'connect-src'].map((one) => `${one} 'self'`);
  const none = ['default-src', 'base-uri', 'form-action', 'frame-ancestors'];
  const policy = [...own, ...none.map((one) => `${one} 'none'`)].join('; ');
  return response.set('Content-Security-Policy', policy);
}

function isSame(given: string, secret: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(secret)];
  return a.length === b.length && timingSafeEqual(a, b);
}
