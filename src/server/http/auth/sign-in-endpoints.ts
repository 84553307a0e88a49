import * as z from 'zod';
import { parseInput } from '../../../core/values/input.ts';
import { signInBegunShape, signInShape } from '../../page/sign-in-answers.ts';
import type { Endpoint } from '../server/endpoint.ts';
import { HttpError } from '../server/http-error.ts';
import type { SignIn } from './sign-in.ts';

const parameter = z.string().max(8_192);

/** The parameters of an authorization response (RFC 6749, RFC 9207). */
const finishing = z.object({
  state: parameter,
  code: parameter.optional(),
  iss: parameter.optional(),
  error: parameter.optional(),
  error_description: parameter.optional(),
});

/**
 * Returns the operations by which the window signs a person in by the issuer.
 *
 * @param signIn undefined where the issuer knows no client for the window.
 */
export function signInEndpoints(signIn: SignIn | undefined): Endpoint[] {
  return [
    {
      method: 'get',
      path: '/sign-in',
      id: 'get_sign_in',
      summary: 'Names the issuer by which people sign in, if there is one.',
      answer: signInShape,
      handle(_request, response) {
        const way = signIn && { issuer: signIn.issuer, address: signIn.address };
        response.json({ status: 'success', ...way });
      },
    },
    {
      method: 'post',
      path: '/sign-in/begin',
      id: 'begin_sign_in',
      summary: 'Returns the address at which a person signs in by the issuer.',
      answer: signInBegunShape,
      async handle(request, response) {
        const { location, state } = await configured(signIn).begin(request);
        response.json({ status: 'success', location, state });
      },
    },
    {
      method: 'post',
      path: '/sign-in/finish',
      id: 'finish_sign_in',
      summary: 'Opens a session of the window with the answer of the issuer.',
      input: finishing,
      answer: z.object({ status: z.literal('success'), expires: z.iso.datetime() }),
      async handle(request, response) {
        const given = parseInput(finishing, request.body);
        const answer = new URLSearchParams();
        for (const [name, value] of Object.entries(given)) {
          if (value !== undefined) answer.set(name, value);
        }
        const expires = await configured(signIn).finish(answer, request, response);
        response.json({ status: 'success', expires: expires.toISOString() });
      },
    },
  ];
}

/** @throws HttpError 404 where the window cannot sign people in. */
function configured(signIn: SignIn | undefined): SignIn {
  if (signIn) return signIn;
  throw new HttpError(404, 'Nobody can sign in by an issuer here: --client-id is not set.');
}
