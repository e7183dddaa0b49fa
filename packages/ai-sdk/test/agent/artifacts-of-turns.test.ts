import { connect, textOf } from '@batonjs/client';
import type { Artifact, Task } from '@batonjs/protocol';
import type { Agent } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { tool } from 'ai';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { serve } from '../../../../test/kit/serve.ts';
import { eventually, until } from '../../../../test/kit/until.ts';
import { call, image, reasoning, type Scripted, scriptedModel, source, text } from '../scripted-model.ts';
import { agentOn } from '../served-agent.ts';

/** An agent that asks with its first answer, and goes on with the next one in another turn. */
function asking(...answers: readonly Scripted[]) {
  const model = scriptedModel(...answers);
  const tools = { ask: tool({ inputSchema: z.object({}), outputSchema: z.string() }) };
  const agent = agentOn(model, tools, { showReasoning: true, coalesce: { bytes: 1 } }) as Agent;
  const store = memoryStore();
  return () => serve(agent, { store, restart: 'rerun' });
}

const draft = [...reasoning('How?'), ...text('A draft'), image('one'), source('a'), call('call-1', 'ask')];

/** The artifacts by name: texts, bytes and the ids of sources. */
const contentOf = ({ artifacts = [] }: Task) =>
  Object.fromEntries(artifacts.map((artifact) => [artifact.name, contentIn(artifact)]));

function contentIn(artifact: Artifact): unknown {
  const [part] = artifact.parts;
  if (part && 'raw' in part) return atob(part.raw);
  if (part && 'data' in part) return (part.data as { id: string }[]).map(({ id }) => id);
  return textOf(artifact);
}

const whole = {
  reasoning: 'How?\n\nSo.',
  answer: 'A draft\n\nThe answer',
  'file-1': 'one',
  'file-2': 'two',
  sources: ['a', 'b'],
};

it('a turn after a question adds to the texts, files and sources of the turn before', async () => {
  const start = asking(draft, [...reasoning('So.'), ...text('The answer'), image('two'), source('b')]);
  const server = start();
  const client = await connect('http://localhost', { fetch: (request) => server.fetch(request) });
  const { task } = await client.send('Draw');
  expect(contentOf(task!)).toEqual({ reasoning: 'How?', answer: 'A draft', 'file-1': 'one' });
  const { task: done } = await client.send('blue', { task: task! });
  expect(done?.status.state).toBe('TASK_STATE_COMPLETED');
  expect(contentOf(done!)).toEqual(whole);
});

it('a turn after a question that runs again replaces what its first attempt added, and nothing else', async () => {
  const start = asking(
    draft,
    [...reasoning('So, er'), image('half'), ...text('The ans'), 'hang'],
    [...reasoning('So.'), image('two'), ...text('The answer'), source('b')],
  );
  const first = start();
  const client = await connect('http://localhost', { fetch: (request) => first.fetch(request) });
  const { task } = await client.send('Draw');
  await client.send('blue', { task: task!, returnImmediately: true });
  await eventually(async () => {
    const { artifacts } = await client.getTask({ id: task!.id });
    expect(artifacts?.map(textOf)).toContain('A draft\n\nThe ans');
  });
  await first.close({ graceMs: 0 });
  expect(contentOf(await until(start(), task!.id, 'COMPLETED'))).toEqual(whole);
});

it('a turn after a question does not complete with the text of the turn before', async () => {
  const server = asking(draft, [])();
  const client = await connect('http://localhost', { fetch: (request) => server.fetch(request) });
  const { task } = await client.send('Draw');
  const { task: done } = await client.send('blue', { task: task! });
  expect(done?.status.state).toBe('TASK_STATE_FAILED');
});
