import * as z from 'zod';

/** How people can sign in on a server; without an issuer, only with a key. */
export const signInShape = z.object({
  status: z.literal('success'),
  /** The name of the authorization server. */
  issuer: z.string().optional(),
  /** The address at which the sign-in works: the one that the authorization server knows. */
  address: z.string().optional(),
});

export type SignInWay = z.infer<typeof signInShape>;

/** A sign-in that has begun. */
export const signInBegunShape = z.object({
  status: z.literal('success'),
  /** Where the browser goes to sign in. */
  location: z.string(),
  state: z.string(),
});

export type SignInBegun = z.infer<typeof signInBegunShape>;
