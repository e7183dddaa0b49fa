import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataOf, textOf } from '@batonjs/client';
import type { NestedTasksOptions } from '@batonjs/nested-tasks';
import { completed } from '@batonjs/server';
import { expect, it, onTestFinished } from 'vitest';
import { type Command, freePort, node, run } from '../../../../test/kit/processes.ts';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { builtProgram } from '../../../../test/support/built-program.ts';
import { clientOf, serveParent } from '../family.ts';

const program = await builtProgram(new URL('./child.ts', import.meta.url));

/** An agent in a process of its own, until the test ends. */
async function startChild() {
  const PORT = String(await freePort());
  const folder = temporaryFolder();
  const LEDGER = join(folder, 'ledger');
  let command: Command | undefined;
  onTestFinished(async () => command?.[Symbol.asyncDispose]());
  const start = async (database: string) => {
    const env = { PORT, LEDGER, DATABASE: join(folder, database) };
    command = run(node, [program], { env });
    await command.until(/is at http/);
  };
  await start('tasks.db');
  return {
    url: `http://127.0.0.1:${PORT}`,
    async kill() {
      command!.signal('SIGKILL');
      await command!.ended;
    },
    /** Starts it again: with its tasks, or with none. */
    restart: start,
    /** The attempts of all tasks. */
    attempts: () => readFileSync(LEDGER, 'utf8').trim().split('\n'),
  };
}

/** A task whose child works, and the child. */
async function working(nested: Partial<NestedTasksOptions>) {
  const child = await startChild();
  const server = serveParent(async function* (turn) {
    const { task } = await turn.call(child.url, 'Work', { name: 'child' });
    yield completed(textOf(task?.status.message));
  }, nested);
  const client = await clientOf(server);
  const stream = client.stream('Go');
  for await (const { statusUpdate } of stream) if (textOf(statusUpdate?.status.message) === 'Working') break;
  const ending = async () => (await client.follow(stream.task!).result()).task!;
  return { child, ending };
}

it('a child whose agent is killed and comes back with its tasks is followed to its end', async () => {
  const { child, ending } = await working({ unreachableMs: 60_000 });
  await child.kill();
  await child.restart('tasks.db');
  const task = await ending();
  expect(textOf(task.status.message)).toBe('Done after all');
  expect(child.attempts()).toEqual(['1', '2']);
});

it('a child whose agent comes back without it is lost, and is not started again', async () => {
  const { child, ending } = await working({ unreachableMs: 60_000 });
  await child.kill();
  await child.restart('other.db');
  const task = await ending();
  expect(dataOf(task.status.message)).toEqual({
    code: 'CALL_TASK_LOST',
    message: 'The call "child" failed: its agent no longer knows the task',
  });
  expect(child.attempts()).toEqual(['1']);
});

it('a child whose agent stays away fails the call', async () => {
  const { child, ending } = await working({ unreachableMs: 300 });
  await child.kill();
  const task = await ending();
  expect(dataOf(task.status.message)).toMatchObject({ code: 'CALL_UNREACHABLE' });
});
