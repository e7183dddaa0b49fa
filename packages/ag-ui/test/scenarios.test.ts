import { createServer } from 'node:http';
import { inputRequired as askForm, extend, formInput } from '@batonjs/extensions';
import {
  type Agent,
  append,
  artifact,
  authRequired,
  completed,
  createAgentServer,
  data,
  failed,
  file,
  inputRequired,
  link,
  rejected,
  reply,
  streamed,
  working,
} from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { listen } from '../../../test/kit/listen.ts';
import { agUiHandler } from '../src/ag-ui-handler.ts';
import { linesOf, versions } from './clients.ts';

const card = { name: 'Test', description: 'Does everything' };
const bytes = new TextEncoder().encode('bytes');

async function* pieces() {
  yield 'Once ';
  yield 'upon';
}

/** What an agent may do, as the tests of the protocol have it, and the last event of a run. */
const scenarios: Readonly<Record<string, readonly [agent: Agent, last: object]>> = {
  'answers with a message': [() => reply('Hello'), { type: 'RUN_FINISHED' }],
  'completes without a word': [
    async function* () {
      yield completed();
    },
    { type: 'RUN_FINISHED', outcome: { type: 'success' } },
  ],
  'reasons before it answers': [
    async function* () {
      yield artifact('reasoning', 'First I ');
      yield append('reasoning', 'think');
      yield artifact('answer', 'Yes');
      yield completed('Done');
    },
    { type: 'RUN_FINISHED' },
  ],
  'gives artifacts of every kind': [
    async function* () {
      yield working('Working');
      yield working();
      yield artifact('text', 'a');
      yield artifact('data', data({ a: [1] }));
      yield artifact('file', file(bytes, { filename: 'a.bin', mediaType: 'application/octet-stream' }));
      yield artifact('link', link('https://a.example/b', { mediaType: 'image/png' }));
      yield artifact('mixed', 'a', data({ b: 1 }));
      yield artifact('text', 'replaced');
      yield append('text', ' and more');
      yield* streamed('story', pieces());
      yield completed();
    },
    { type: 'RUN_FINISHED' },
  ],
  'records what clients do not see': [
    async function* ({ memory, step }) {
      await memory.set('a', 1);
      await step('b', () => 2);
      yield { ...working(), labels: ['eu'] };
      yield completed();
    },
    { type: 'RUN_FINISHED' },
  ],
  'fails with a code': [
    async function* () {
      yield artifact('answer', 'Half');
      yield failed({ code: 'NO_LUCK', message: 'No luck', retryable: false });
    },
    { type: 'RUN_ERROR', code: 'NO_LUCK' },
  ],
  throws: [
    async function* () {
      yield artifact('answer', 'Half');
      throw new Error('secret');
    },
    { type: 'RUN_ERROR', code: 'AGENT_FAILED' },
  ],
  rejects: [
    async function* () {
      yield rejected('Not mine');
    },
    { type: 'RUN_ERROR', code: 'REJECTED' },
  ],
  'asks in the middle of a text': [
    async function* () {
      yield artifact('answer', 'First');
      yield inputRequired('Which?');
    },
    { type: 'RUN_FINISHED', outcome: { type: 'success' } },
  ],
  'asks with a form': [
    async function* () {
      yield askForm('How many?', { form: z.object({ count: z.number() }), title: 'Count' });
    },
    { type: 'RUN_FINISHED', outcome: { type: 'success' } },
  ],
  'needs an authorization': [
    async function* () {
      yield authRequired('Log in');
    },
    { type: 'RUN_FINISHED', outcome: { type: 'interrupt' } },
  ],
};

// The clients themselves check the order of events; `clients.ts` compares each with the schemas of 1.0.
describe.each(versions)('the events of a run on AG-UI %s are valid', (_version, open) => {
  it.each(Object.entries(scenarios))('where an agent %s', async (_what, [agent, last]) => {
    const server = closedAfterTest(
      createAgentServer({
        ...extend({ card, agent }, formInput),
        store: memoryStore(),
        logger: () => {},
      }),
    );
    const front = open(await listen(createServer(nodeHandler(agUiHandler(server)))));
    front.say('Go');
    await front.run().catch(() => {});
    expect(front.events[0]).toMatchObject({ type: 'RUN_STARTED' });
    expect(front.events.at(-1)).toMatchObject(last);
    expect(JSON.stringify(front.events)).not.toContain('secret');
    // A run that was seen again says the same.
    const again = open(await listen(createServer(nodeHandler(agUiHandler(server)))));
    await again.run().catch(() => {});
    expect(again.events[0]).toMatchObject({ type: 'RUN_STARTED' });
  });

  it('and reasoning is a message of its own, before the answer', async () => {
    const [agent] = scenarios['reasons before it answers']!;
    const server = closedAfterTest(createAgentServer({ card, agent, store: memoryStore() }));
    const front = open(await listen(createServer(nodeHandler(agUiHandler(server)))));
    front.say('Go');
    await front.run();
    const types = front.events.map(({ type }) => type).filter((type) => type.startsWith('REASONING'));
    expect(types).toEqual([
      'REASONING_START',
      'REASONING_MESSAGE_START',
      'REASONING_MESSAGE_CONTENT',
      'REASONING_MESSAGE_CONTENT',
      'REASONING_MESSAGE_END',
      'REASONING_END',
    ]);
    const said = linesOf(front);
    expect(said).toContain('reasoning: First I think');
    expect(said.slice(-2)).toEqual(['assistant: Yes', 'assistant: Done']);
  });
});
