import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { afterAll, vi } from 'vitest';
import { readGlobals, restoreGlobals } from './globals.ts';
import { forgetHandles, openHandles, reportHandles } from './handles.ts';
import { takeSpies } from './mocks.ts';
import { PATIENCE, sharesProcess } from './sharing.ts';

/**
 * Around each test file: fails the file that leaves something behind for the next file of its process: a server, a
 * connection, a child process, a timer, a spy, fake timers, a changed global or environment. Connections and processes
 * get a while to end after they were told to.
 */
const patienceMs = Number(process.env[PATIENCE] ?? 10_000);

const before = readGlobals();
forgetHandles();

// Registered first, so that it runs after every hook of the file.
afterAll(async () => {
  const errors = takeSpies();
  if (vi.isFakeTimers()) {
    vi.useRealTimers();
    errors.push(new Error('The file leaves fake timers.'));
  }
  const changed = restoreGlobals(before);
  if (changed.length > 0 && sharesProcess())
    errors.push(new Error(`The file leaves changed: ${changed.join(', ')}.`));
  // Node.js says only then of timers that were cleared that they are gone. To read where each was opened takes seconds.
  await nextTurn();
  const deadline = performance.now() + patienceMs;
  while (openHandles().length > 0 && performance.now() < deadline) await sleep(20);
  errors.push(...reportHandles());
  if (errors.length > 0) throw new AggregateError(errors, 'The file leaves something behind.');
}, patienceMs + 10_000);
