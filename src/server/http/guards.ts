import { isUtf8 } from 'node:buffer';
import { isIP } from 'node:net';
import express, { type RequestHandler } from 'express';
import { isLoopback, loopbackNames } from './address.ts';
import { HttpError } from './http-error.ts';

/** The version of the REST API (seed 003, "Protocol Version"). */
export const apiVersion = '1.0.0';

/** The largest body, in bytes; a file of 1 MiB fits with every character escaped as JSON may. */
export const maxBodyBytes = 8 * 1024 * 1024;

/** Headers of which a second one would let two readers of a request see two requests. */
const single = ['host', 'authorization', 'cookie', 'content-type', 'origin', 'mcp-session-id'];

/** Refuses requests that name no host, expect what is not known, or carry a deciding header twice. */
export const soundHead: RequestHandler = ({ url, headers, headersDistinct }, _response, next) => {
  if (headers.host === undefined) throw new HttpError(400, 'The header "Host" is missing.');
  if (!/^[/*]/.test(url) && targetHost(url) === undefined) {
    throw new HttpError(400, 'The target of the request is neither a path nor an http URL.');
  }
  const { expect = '100-continue' } = headers;
  if (expect.toLowerCase() !== '100-continue') {
    throw new HttpError(417, 'The header "Expect" may be 100-continue only.');
  }
  const twice = single.find((name) => (headersDistinct[name]?.length ?? 0) > 1);
  if (twice !== undefined) throw new HttpError(400, `The header "${twice}" stands there twice.`);
  next();
};

/**
 * Refuses requests that a browser sends for somebody else's page (3.33).
 *
 * Such a page can lead a name of its own to this address (DNS rebinding), but it cannot change what
 * the browser sends as Host and Origin. An address as Host can be nobody's trick.
 */
export function sameSite(
  bound: string,
  hosts: readonly string[],
  origins: readonly string[],
): RequestHandler {
  const names = [...loopbackNames, bound, ...hosts].map((name) => name.toLowerCase());
  const open = !isLoopback(bound);
  return ({ url, headers: { host = '', origin } }, _response, next) => {
    // The host in an absolute target overrides the header, and a proxy may have looked at either.
    for (const asked of [host, targetHost(url) ?? host]) {
      const name = hostname(asked);
      if (!names.includes(name) && !(open && isIP(name.replace(/^\[|\]$/g, '')))) {
        throw new HttpError(403, 'The server is not known by this Host; --allow-host names more.');
      }
      if (origin !== undefined && !origins.includes(origin) && !sameHost(origin, asked)) {
        throw new HttpError(
          403,
          'Requests of this Origin are refused; --allow-origin allows more.',
        );
      }
    }
    next();
  };
}

/**
 * Refuses requests that a page of another site makes a browser send with the session cookie.
 *
 * A browser counts every port of this machine as the same site, so SameSite does not hold them back.
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

/** Takes any version of the API with the same major number, and says which one it is (3.19). */
export const versioned: RequestHandler = (request, response, next) => {
  const asked = request.get('x-api-version') ?? apiVersion;
  const [major] = apiVersion.split('.');
  const [, version] = /^(\d{1,9})\.\d{1,9}\.\d{1,9}$/.exec(asked) ?? [];
  response.set('X-API-Version', version === major ? asked : apiVersion);
  if (version !== major) {
    throw new HttpError(400, `X-API-Version must be ${major}.x.y; this is ${apiVersion}.`);
  }
  next();
};

/** Reads a JSON body after its head has passed every check, and refuses every other kind. */
export const jsonBody: RequestHandler[] = [
  (request, response, next) => {
    const length = Number(request.headers['content-length']);
    // `is` says null where there is no body, and takes an empty one for one.
    if (length !== 0 && request.is('application/json') === false) {
      throw new HttpError(415, 'The Content-Type must be application/json.');
    }
    // The reader of the body would take it all in before it says so.
    if (length > maxBodyBytes) {
      throw new HttpError(413, 'The body is too large.', { Connection: 'close' });
    }
    const { expect, 'content-encoding': coding = 'identity' } = request.headers;
    if (coding.toLowerCase() !== 'identity') {
      throw new HttpError(415, 'The body must not be compressed.');
    }
    if (expect !== undefined && request.httpVersion === '1.1') response.writeContinue();
    next();
  },
  express.json({
    limit: maxBodyBytes,
    inflate: false,
    verify(_request, _response, body, encoding) {
      if (encoding !== 'utf-8' || !isUtf8(body)) throw new Error('not UTF-8');
    },
  }),
];

/** The host and port in a target of absolute form; undefined for any other form. */
function targetHost(url: string): string | undefined {
  return /^https?:\/\/(?:[^/?#@]*@)?([^/?#@]+)(?:[/?#]|$)/i.exec(url)?.[1];
}

function hostname(host: string): string {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : '';
}

function sameHost(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}
