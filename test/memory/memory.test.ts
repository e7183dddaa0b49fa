import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { node, run } from '../kit/processes.ts';
import { repetitions } from '../kit/repetitions.ts';

/** What a program says in its last line. */
async function measured(program: URL, ...args: number[]) {
  const flags = ['--expose-gc', '--disable-warning=ExperimentalWarning', '--conditions=@batonjs/source'];
  await using command = run(node, [...flags, fileURLToPath(program), ...args.map(String)]);
  expect(await command.ended, command.output).toBe(0);
  return JSON.parse(command.output.trimEnd().split('\n').at(-1) ?? '');
}

it('keeps nothing in memory of tasks that wait for input, nor of followers that left', {
  timeout: 300_000,
}, async () => {
  const [tasks, followers] = [repetitions(400, 1_000), repetitions(300, 500)];
  const program = new URL('./abandoned.ts', import.meta.url);
  const { waiting, held, left, more } = await measured(program, tasks, followers, 3);
  expect([waiting, held]).toEqual([3 * tasks, 0]);
  for (const after of left) {
    expect(after).toEqual({ load: { turns: 0, tasks: 0 }, watched: 0, liveTasks: 0, runs: 0 });
  }
  // One object, string or closure for each of the tasks in between would be at least 800, for each follower 600.
  expect(Object.entries(more).filter(([, count]) => Number(count) >= 500)).toEqual([]);
});

// Sixteen, so that what they share counts little.
it('keeps less than 1 MiB of many for a follower that does not read, and shows it everything later', {
  timeout: 300_000,
}, async () => {
  const program = new URL('./slow-follower.ts', import.meta.url);
  const { chunks, each, read, inOrder } = await measured(program, repetitions(24, 188), 16);
  expect(each.idle).toBeLessThan(1024 * 1024);
  expect(each.lagging).toBeLessThan(1024 * 1024);
  expect([read, inOrder]).toEqual([chunks, true]);
});
