import { describe, expect, it } from 'vitest';
import { node, run } from '../kit/processes.ts';
import { builtProgram } from '../support/built-program.ts';

const program = await builtProgram(new URL('./call-process.ts', import.meta.url));

/** What each call comes to. */
const results: Readonly<Record<string, unknown>> = {
  'a blocking send': 'TASK_STATE_COMPLETED',
  'a send whose step is tried again': 'TASK_STATE_COMPLETED',
  'a send whose answer nobody waits for': 'TASK_STATE_COMPLETED',
  'a send that no worker takes': 'TASK_STATE_SUBMITTED',
  'a stream': 'COMPLETED',
  'a cancel of an agent that does not stop': 'TASK_STATE_CANCELED',
  'reads of a store that takes its time': true,
  'a wake': null,
  'an erase of a task at work': 1,
  'an erase by the store alone': 1,
  'a bulk run with a pace': 3,
  'a bulk run by the store alone': 3,
  'a close that lets a turn end': 'TASK_STATE_COMPLETED',
  'a close that ends a turn': 'TASK_STATE_FAILED',
  'a worker until it is closed': 'TASK_STATE_COMPLETED',
  'send and follow of a client': true,
  'a client that cannot reach its agent': 'NETWORK',
  'a turn in a unit test': 1,
  'a clock of a test': 'TASK_STATE_COMPLETED',
  'a call of another agent': 'TASK_STATE_COMPLETED',
  'a call of an agent that cannot be reached': 'TASK_STATE_COMPLETED',
  'a transaction': 'TASK_STATE_COMPLETED',
  'messages of a database': true,
  'schedules of a store': false,
};
const idle = [
  'a server',
  'a server that is closed',
  'a worker that is closed',
  'a task that waits for an answer',
  'a task that has ended',
  'a stream that nobody reads',
  'messages of a database that are looked for',
  'a client',
];

/** How a process ended that made one call, and what it wrote. */
async function ended(name: string, kind: string): Promise<[unknown, string]> {
  await using child = run(node, ['--no-warnings', program, name, kind]);
  return [await child.ended, child.output];
}

describe.each(['memory', 'SQLite'])('a process without a socket, on a store in %s,', (kind) => {
  it.concurrent.each(Object.entries(results))(
    'lives until its call has an answer: %s',
    async (name, result) => {
      const [code, output] = await ended(name, kind);
      expect([code, code === 0 ? JSON.parse(output) : output]).toEqual([0, result]);
    },
  );

  it.concurrent.each(idle)('is not held by what nobody waits for: %s', async (name) => {
    expect(await ended(name, kind)).toEqual([0, 'idle']);
  });
});
