/**
 * `pnpm assistant`: an assistant writes, tests and debugs a new agent with the tools of `baton dev --mcp` and the
 * documentation in the package alone. Prints what it did and what it was answered; `--write` puts it into the record, with
 * which a test compares it.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { play } from './assistant/play.ts';
import { recordOf } from './assistant/record.ts';
import { steps } from './assistant/steps.ts';

const record = recordOf(await play(steps));
if (process.argv.includes('--write')) writeFileSync(join(import.meta.dirname, 'assistant/record.md'), record);
else process.stdout.write(record);
