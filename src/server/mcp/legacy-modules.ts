import { config } from 'zod';

/** Loads the SDK without compiling its schemas, which takes longer than they take to check messages. */
export async function importLegacyLines() {
  config({ jitless: true });
  try {
    return await import('./legacy-lines.ts');
  } finally {
    config({ jitless: false });
  }
}
