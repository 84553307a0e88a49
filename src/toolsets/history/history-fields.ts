import { z } from 'zod';

/** What names one commit. */
export const revision = z.string().min(1).max(256);

/** A record, or a folder of records. */
export const path = z.string().min(1).max(1000);

/** How many of a list are left out. */
export const skip = z.int().min(0).max(1_000_000).default(0);

/** How many of a list are told. */
export const limit = z.int().min(1).max(200).default(20);
