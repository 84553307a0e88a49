import {
  IncomingMessage,
  type RequestListener,
  type ServerOptions,
  ServerResponse,
} from 'node:http';
import type { Express, Request, RequestHandler, Response } from 'express';

/**
 * Returns the classes with which a server creates its messages, so that they have the methods of an
 * Express application from the beginning.
 *
 * The application itself would change the prototypes of both objects and match the path with its
 * layers in each request.
 */
export function messagesOf({ request, response }: Express): ServerOptions {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse<R extends IncomingMessage> extends ServerResponse<R> {
    readonly locals = Object.create(null);
  }
  Object.setPrototypeOf(ExpressRequest.prototype, request);
  Object.setPrototypeOf(ExpressResponse.prototype, response);
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}

/**
 * Returns the listener for a server whose messages are of `messagesOf`.
 *
 * @param refuse answers a request whose handler has failed.
 */
export function expressListener(
  handle: RequestHandler,
  refuse: (error: unknown, request: Request, response: Response) => void,
): RequestListener {
  return (message, answer) => {
    const request = message as Request;
    const response = answer as Response;
    // The routers and methods of Express expect these properties.
    request.res = response;
    request.originalUrl = request.url;
    handle(request, response, (error) => refuse(error, request, response));
  };
}
