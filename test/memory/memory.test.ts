import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { node, run } from '../kit/processes.ts';

/** What a program says in its last line. */
async function measured(program: URL, ...args: number[]) {
  const flags = ['--expose-gc', '--disable-warning=ExperimentalWarning', '--conditions=@batonjs/source'];
  await using command = run(node, [...flags, fileURLToPath(program), ...args.map(String)]);
  expect(await command.ended, command.output).toBe(0);
  return JSON.parse(command.output.trimEnd().split('\n').at(-1) ?? '');
}

it('keeps nothing in memory of 10,200 tasks that wait for input, nor of 1,020 followers that left', {
  timeout: 120_000,
}, async () => {
  const { waiting, held, after } = await measured(new URL('./abandoned.ts', import.meta.url), 3_400, 340, 3);
  expect([waiting, held]).toEqual([10_200, 0]);
  for (const { heap: _, ...left } of after) {
    expect(left).toEqual({ load: { turns: 0, tasks: 0 }, watched: 0, liveTasks: 0, runs: 0 });
  }
  const [first, , last] = after.map(({ heap }: { heap: number }) => heap);
  // A hundred bytes for each of the 6,800 tasks in between would show.
  expect(last - first).toBeLessThan(680_000);
});

// Sixteen, so that what they share counts little.
it('keeps less than 1 MiB of 188 MiB for a follower that does not read, and shows it everything later', {
  timeout: 120_000,
}, async () => {
  const { chunks, each, read, inOrder } = await measured(
    new URL('./slow-follower.ts', import.meta.url),
    188,
    16,
  );
  expect(each.idle).toBeLessThan(1024 * 1024);
  expect(each.lagging).toBeLessThan(1024 * 1024);
  expect([read, inOrder]).toEqual([chunks, true]);
});
