import { appendFileSync } from 'node:fs';

/** The environment variable with the file that a run of the tests collects in what this machine lacks. */
export const MISSING_FILE = 'BATON_MISSING_FILE';

/**
 * Says that tests are skipped because this machine lacks something, and how to get it: at the end of a run of the tests,
 * at once elsewhere.
 */
export function reportMissing(howToGetIt: string): void {
  const file = process.env[MISSING_FILE];
  if (file) appendFileSync(file, `${howToGetIt}\n`);
  else console.warn(`Skipped. ${howToGetIt}`);
}
