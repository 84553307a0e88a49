import * as z from 'zod';

/** The argument of a tool that returns one growing list: how many of its items to skip. */
export const offsetArgument = z.int().min(0).max(100_000_000).default(0);

/** How the rest of such a list is asked for. */
export const nextOffset = 'call again with offset {offset}';
