import { join } from 'node:path';
import { expect, it } from 'vitest';
import { autoscale } from '../../scripts/scaling/simulation.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { builtProgram } from '../support/built-program.ts';

it('workers that come and go with the queue lose no turn and double none', async () => {
  const program = await builtProgram(new URL('../../scripts/scaling/worker.ts', import.meta.url));
  const { ms, exitCodes, takenAway, ...outcome } = await autoscale({
    store: `sqlite:${join(temporaryFolder(), 'tasks.db')}`,
    program,
    tasks: 60,
    turns: 4,
    turnMs: 100,
    held: 2,
    most: 3,
    everyMs: 50,
  });
  expect(ms).toBeGreaterThan(0);
  expect(outcome).toEqual({
    tasks: 60,
    completed: 60,
    lost: 0,
    doubled: 0,
    most: 3,
    inTheMiddle: expect.any(Number),
  });
  // One left while the turns that are held went on.
  expect(takenAway).toBeGreaterThan(0);
  expect(outcome.inTheMiddle).toBeGreaterThan(0);
  expect(new Set(exitCodes)).toEqual(new Set([0]));
});
