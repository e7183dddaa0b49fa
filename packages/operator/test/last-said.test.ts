import { connect } from '@batonjs/client';
import {
  artifact,
  completed,
  createAgentServer,
  rejected,
  type Turn,
  type Updates,
  working,
} from '@batonjs/server';
import { scopeOf } from '@batonjs/server/internals';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { taskRows } from '../src/search/task-rows.ts';

const long = 'x'.repeat(201);

async function* agent({ text }: Turn): Updates {
  if (text === 'throws') throw new Error('The till is broken');
  if (text === 'throws at length') throw new Error(long);
  if (text !== 'says nothing') yield artifact('bill', '42 EUR');
  if (text === 'goes on') yield { ...artifact('bill', ' and 7 cents'), append: true };
  if (text === 'rejects') yield rejected();
  else if (text === 'works') {
    yield working('Counting');
    yield completed('Counted');
  } else yield completed();
}

it.each([
  ['throws', 'TASK_STATE_FAILED', 'The till is broken'],
  ['throws at length', 'TASK_STATE_FAILED', `${long.slice(0, 199)}…`],
  ['makes', 'TASK_STATE_COMPLETED', '42 EUR'],
  ['goes on', 'TASK_STATE_COMPLETED', '… and 7 cents'],
  ['works', 'TASK_STATE_COMPLETED', 'Counted'],
  ['says nothing', 'TASK_STATE_COMPLETED', undefined],
  ['rejects', 'TASK_STATE_REJECTED', undefined],
])(
  'the row of a task that %s has what was said or thrown last, else what was made last',
  async (text, state, last) => {
    const store = memoryStore();
    const server = closedAfterTest(
      createAgentServer({
        card: { name: 'Till', description: 'Counts' },
        name: 'till',
        agent,
        store,
        logger: () => {},
      }),
    );
    const client = await connect('http://localhost', { fetch: (request) => server.fetch(request) });
    await client.send(text);
    const scope = scopeOf('till', undefined, undefined);
    const page = await store.list(scope, { limit: 1 });
    const [row] = await taskRows(store)(scope, page);
    expect(row?.code).toBe(page.tasks[0]!.head.code);
    expect(row?.code === undefined).toBe(state !== 'TASK_STATE_FAILED');
    expect([row?.state, row?.text, row?.title]).toEqual([state, last, text]);
  },
);
