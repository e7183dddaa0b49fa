/**
 * `pnpm recording`: kills a server in the middle of a task, and draws what it and its client printed into
 * `docs/images/kill-and-resume.svg`. The same run gives the same file: a test compares them.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { draw } from './recording/draw.ts';
import { perform } from './recording/perform.ts';

const file = join(import.meta.dirname, '../docs/images/kill-and-resume.svg');
writeFileSync(file, draw(await perform()));
