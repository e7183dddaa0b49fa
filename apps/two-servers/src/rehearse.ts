import { deepEqual, equal, ok } from 'node:assert/strict';
import { type AgentClient, connect, dataOf, type TaskStream, textOf } from '@batonjs/client';
import type { Said } from './agent.ts';
import { startChild } from './child.ts';
import { startProxy } from './proxy.ts';

/** So far that a worker which is to be killed in the middle has not ended before, on a busy machine neither. */
const last = 30;
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

/** Runs the whole scenario on one store, under an agent name of its own. Rejects at the first unexpected result. */
export async function rehearse(env: { readonly BATON_STORE: string; readonly AGENT: string }): Promise<void> {
  const { url, servers } = await startProxy();
  const start = (file: string, name: string) => startChild(file, name, { ...env, PUBLIC_URL: url });
  const [a, b, first] = await Promise.all([
    start('server.ts', 'A'),
    start('server.ts', 'B'),
    start('worker.ts', 'worker 1'),
  ]);
  // The proxy alternates: B answers the card, so that A gets the first message.
  servers.push(b, a);
  let servedBy: string | null = null;
  const agent = await connect(url, {
    async fetch(request) {
      const response = await fetch(request);
      servedBy = response.headers.get('x-served-by');
      return response;
    },
  });
  const by = (name: string, what: string) => {
    equal(servedBy, name);
    console.log(`${name}  ${what}`);
  };

  const { task } = await agent.send('Count', { returnImmediately: true });
  ok(task);
  by('A', `starts ${task.id}`);

  const story = follow(agent, task.id);
  const question = await story.until(({ task }) => task?.status.state === 'TASK_STATE_INPUT_REQUIRED');
  by('B', `follows it, and hears the question: ${textOf(question?.status.message)}`);

  equal(textOf((await agent.getTask({ id: task.id })).status.message), 'How far shall I count?');
  by('A', 'says the same when it is asked');

  await agent.send({ data: { to: last } }, { task, returnImmediately: true });
  by('B', `takes the answer: ${last}`);

  await story.until((stream) => said(stream).length >= 5);
  await first.kill();
  console.log(`    ${first.name} is killed (SIGKILL) after "${said(story.stream).at(-1)?.number}"`);
  const second = await start('worker.ts', 'worker 2');
  const ended = await story.until(() => false);
  equal(ended?.status.state, 'TASK_STATE_COMPLETED');
  const numbers = said(story.stream);
  deepEqual(
    numbers.map(({ number }) => number),
    upTo(last),
  );
  equal(numbers[0]?.by, first.name);
  equal(numbers.at(-1)?.by, second.name);
  const taken = numbers.find((one) => one.by === second.name);
  console.log(`    ${second.name} goes on with "${taken?.number}", and who followed heard each number once`);

  const { task: endless } = await agent.send({ data: { to: 100_000 } }, { returnImmediately: true });
  ok(endless);
  by('A', `starts ${endless.id}`);
  const other = follow(agent, endless.id);
  await other.until((stream) => said(stream).length >= 3);
  by('B', 'follows it');
  equal((await agent.task(endless).cancel()).status.state, 'TASK_STATE_CANCELED');
  by('A', 'cancels it');
  equal((await other.until(() => false))?.status.state, 'TASK_STATE_CANCELED');
  equal((await agent.getTask({ id: endless.id })).status.state, 'TASK_STATE_CANCELED');
  by('B', 'knows, and notified its follower');

  deepEqual(await Promise.all([a, b, second].map((child) => child.stop())), [0, 0, 0]);
  console.log('    SIGTERM: all ended by themselves');
}

/** A task that is followed step by step. */
function follow(agent: AgentClient, id: string) {
  const stream = agent.task(id).follow();
  const events = stream[Symbol.asyncIterator]();
  return {
    stream,
    /** Reads until the condition holds, or to the end. */
    async until(holds: (stream: TaskStream) => boolean) {
      while (!(await events.next()).done && !holds(stream));
      return stream.task;
    },
  };
}

const said = ({ task }: TaskStream): Said[] =>
  task?.artifacts?.[0]?.parts.map((part) => dataOf({ parts: [part] }) as unknown as Said) ?? [];
