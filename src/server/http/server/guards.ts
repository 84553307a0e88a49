import { isUtf8 } from 'node:buffer';
import { isIP } from 'node:net';
import express, { type RequestHandler, type Response } from 'express';
import { isLoopback, loopbackNames } from './address.ts';
import { HttpError } from './http-error.ts';

/** The version of the REST API (seed 003, "Protocol Version"). */
export const apiVersion = '1.0.0';

/** Headers that must not repeat: a proxy and this server could each use another of the values. */
const single = new Set([
  'host',
  'authorization',
  'cookie',
  'content-type',
  'origin',
  'mcp-session-id',
]);

/** Refuses requests without a Host, with an unknown Expect, or with a repeated header that decides. */
export const soundHead: RequestHandler = ({ url, headers, rawHeaders }, _response, next) => {
  if (headers.host === undefined) throw new HttpError(400, 'The header "Host" is missing.');
  if (!/^[/*]/.test(url) && targetHost(url) === undefined) {
    throw new HttpError(400, 'The target of the request is neither a path nor an http URL.');
  }
  const { expect = '100-continue' } = headers;
  if (expect.toLowerCase() !== '100-continue') {
    throw new HttpError(417, 'The header "Expect" must be 100-continue.');
  }
  const repeated = repeatedOf(rawHeaders);
  if (repeated !== undefined) {
    throw new HttpError(400, `The header "${repeated}" occurs more than once.`);
  }
  next();
};

/** Returns a header that repeats and must not; `rawHeaders` has names and values in turn. */
function repeatedOf(rawHeaders: readonly string[]): string | undefined {
  const seen: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase() ?? '';
    if (!single.has(name)) continue;
    if (seen.includes(name)) return name;
    seen.push(name);
  }
  return undefined;
}

/**
 * Refuses requests that a browser sends for a page of another site.
 *
 * Such a page can make its own host name resolve to this address (DNS rebinding), but it cannot
 * change the Host and Origin that the browser sends. An IP address as Host cannot be rebound.
 */
export function sameSite(
  bound: string,
  hosts: readonly string[],
  origins: readonly string[],
): RequestHandler {
  const names = [...loopbackNames, bound, ...hosts].map((name) => name.toLowerCase());
  const open = !isLoopback(bound);
  const isServed = remembered((host) => {
    const name = hostname(host);
    return names.includes(name) || (open && isIP(name.replace(/^\[|\]$/g, '')) > 0);
  });
  return ({ url, headers: { host = '', origin } }, _response, next) => {
    // The host in an absolute target overrides the header, and a proxy may have checked either.
    for (const given of [host, targetHost(url) ?? host]) {
      if (!isServed(given)) {
        throw new HttpError(403, 'The server does not accept this Host; --allow-host adds one.');
      }
      if (origin !== undefined && !origins.includes(origin) && !sameHost(origin, given)) {
        throw new HttpError(
          403,
          'The server does not accept this Origin; --allow-origin adds one.',
        );
      }
    }
    next();
  };
}

/**
 * Refuses requests that a page of another site makes a browser send with the session cookie.
 *
 * To a browser all ports of this machine are one site, so SameSite does not stop these requests.
 */
export function ownCookie(origins: readonly string[]): RequestHandler {
  return ({ headers }, { locals: { caller } }, next) => {
    const site = headers['sec-fetch-site'] ?? 'none';
    const foreign = site !== 'same-origin' && site !== 'none';
    if (foreign && caller.bySession && !origins.includes(headers.origin ?? '')) {
      throw new HttpError(403, 'Another site cannot use the session cookie; send an API key.');
    }
    next();
  };
}

/** Accepts any API version with the same major number, and echoes it in the answer. */
export const versioned: RequestHandler = (request, response, next) => {
  const requested = request.get('x-api-version') ?? apiVersion;
  const [major] = apiVersion.split('.');
  const [, version] = /^(\d{1,9})\.\d{1,9}\.\d{1,9}$/.exec(requested) ?? [];
  response.set('X-API-Version', version === major ? requested : apiVersion);
  if (version !== major) {
    throw new HttpError(400, `X-API-Version must be ${major}.x.y; the server has ${apiVersion}.`);
  }
  next();
};

declare global {
  namespace Express {
    interface Locals {
      /** The length of the body that was read. */
      bodyBytes: number | undefined;
    }
  }
}

/**
 * Reads a JSON body after its headers have passed all checks; refuses any other body.
 *
 * A body that was read already, because it names the project, is only compared with the limit.
 *
 * @param limit of the body, in bytes.
 */
export function jsonBody(limit: number): RequestHandler[] {
  return [checkBody(limit), parser(limit), checkLength(limit)];
}

function checkBody(limit: number): RequestHandler {
  return (request, response, next) => {
    const length = Number(request.headers['content-length']);
    // `is` returns null without a body, but treats an empty body as one.
    if (length !== 0 && request.is('application/json') === false) {
      throw new HttpError(415, 'The Content-Type must be application/json.');
    }
    // The body parser would read all of it before it refuses.
    if (length > limit) {
      throw new HttpError(413, 'The body is too large.', { Connection: 'close' });
    }
    const { expect, 'content-encoding': coding = 'identity' } = request.headers;
    if (coding.toLowerCase() !== 'identity') {
      throw new HttpError(415, 'The body must not be compressed.');
    }
    const waits = expect !== undefined && !request.complete;
    if (waits && request.httpVersion === '1.1') response.writeContinue();
    next();
  };
}

function parser(limit: number): RequestHandler {
  return express.json({
    limit,
    inflate: false,
    verify(_request, response, body, encoding) {
      if (encoding !== 'utf-8' || !isUtf8(body)) throw new Error('not UTF-8');
      (response as Response).locals.bodyBytes = body.length;
    },
  });
}

function checkLength(limit: number): RequestHandler {
  return (_request, { locals: { bodyBytes = 0 } }, next) => {
    if (bodyBytes > limit) throw new HttpError(413, 'The body is too large.');
    next();
  };
}

/** Returns the host and port of an absolute target; undefined for any other form. */
function targetHost(url: string): string | undefined {
  return /^https?:\/\/(?:[^/?#@]*@)?([^/?#@]+)(?:[/?#]|$)/i.exec(url)?.[1];
}

/** Returns a check that keeps its last result: most requests have the same host. */
function remembered(check: (text: string) => boolean): (text: string) => boolean {
  let last: { readonly text: string; readonly result: boolean } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, result: check(text) };
    return last.result;
  };
}

function hostname(host: string): string {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : '';
}

function sameHost(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}
