import { connect } from '@batonjs/client';
import { createAgentServer } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it, onTestFinished } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { listen } from '../../../test/kit/listen.ts';
import { AgentLink } from '../src/agents/inspected.ts';
import type { Entry } from '../src/api/timeline.ts';
import { Replay } from '../src/app/timeline/replay.ts';
import { sendMessage } from '../src/routes/act-routes.ts';
import type { Recording } from '../src/timeline/recording.ts';
import { recordingsOf } from '../src/timeline/recordings.ts';
import { showAgent } from './show-agent.ts';

/** An agent behind HTTP, and the recordings of an inspector that knows only its address. */
async function recorded() {
  const server = closedAfterTest(
    createAgentServer({ ...showAgent(async () => {}), store: memoryStore(), logger: () => {} }),
  );
  const url = await listen(nodeHandler(server));
  const link = new AgentLink(url, {});
  const recordings = recordingsOf(link);
  onTestFinished(() => recordings.close());
  return { url, link, recordings };
}

/** Reads a recording until the task has a state. Resolves to its entries. */
async function readUntil(recording: Recording, state: string): Promise<readonly Entry[]> {
  const reading = new AbortController();
  const entries: Entry[] = [];
  const replay = new Replay();
  for await (const update of recording.feed({ after: 0, source: null }, reading.signal)) {
    if (update.type === 'problem') throw new Error(update.message);
    if (update.type !== 'entries') continue;
    for (const entry of update.entries) replay.apply(entry);
    entries.push(...update.entries);
    if (replay.task?.status.state === `TASK_STATE_${state}`) reading.abort();
  }
  return entries;
}

it('follows a task that was sent through questions that another client answers', async () => {
  const { url, link, recordings } = await recorded();
  const { taskId } = await sendMessage(link, recordings, { parts: [{ text: 'ask' }] });
  const recording = recordings.open(taskId!);
  const asked = await readUntil(recording, 'INPUT_REQUIRED');
  expect(asked[0]).toMatchObject({ seq: 1, message: { parts: [{ text: 'ask' }] } });
  const completed = readUntil(recordings.open(taskId!), 'COMPLETED');
  await (await connect(url)).send('blue', { task: taskId! });
  const entries = await completed;
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1));
  expect(recording.task?.status.state).toBe('TASK_STATE_COMPLETED');
});

it('begins with the past of a task that it sees for the first time', async () => {
  const { url, recordings } = await recorded();
  const { task } = await (await connect(url)).send('chunks 3');
  const entries = await readUntil(recordings.open(task!.id), 'COMPLETED');
  expect(entries.map(({ message, event }) => (message ? 'message' : Object.keys(event!)[0]))).toEqual([
    'message',
    'message',
    'artifactUpdate',
    'statusUpdate',
  ]);
});

it('says why a task cannot be followed', async () => {
  const { recordings } = await recorded();
  await expect(readUntil(recordings.open('unknown'), 'COMPLETED')).rejects.toThrow('Task not found');
});
