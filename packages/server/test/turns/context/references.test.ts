import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { scope } from '../../../../../test/kit/scope.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { type Agent, artifact, completed, type References } from '../../../src/index.ts';
import { referencesOf } from '../../../src/turns/context/references.ts';

async function serveSeeing() {
  let seen: References | undefined;
  const server = serve(
    async function* ({ references }) {
      seen = await references();
      yield artifact({ artifactId: 'a-1', name: 'picture' }, 'first');
      yield artifact({ artifactId: 'a-2', name: 'picture' }, 'second');
      yield completed();
    },
    {
      authenticate: ({ headers }) => ({ scope: headers.authorization ?? 'ann' }),
    },
  );
  const { task } = await rpc(server, 'SendMessage', { message: say('draw') });
  return {
    taskId: task.id as string,
    /** What the agent sees of a message with this metadata in its part. */
    async seenOf(
      metadata: object,
      { referenceTaskIds, who = 'ann' }: { referenceTaskIds?: string[]; who?: string } = {},
    ) {
      const message = say([{ text: 'x', metadata } as never], {
        ...(referenceTaskIds && { referenceTaskIds }),
      });
      await rpc(server, 'SendMessage', { message }, { authorization: who });
      const { tasks, artifacts, missing } = seen!;
      return { tasks: tasks.map(({ id }) => id), artifacts, missing };
    },
    close: () => server.close(),
  };
}

const second = { artifactId: 'a-2', name: 'picture', parts: [{ text: 'second' }] };

it('are resolved to the artifacts that parts name, with their tasks [R-REF-03]', async () => {
  const { taskId, seenOf, close } = await serveSeeing();
  expect(await seenOf({ taskId, artifactId: 'a-2' })).toEqual({
    tasks: [taskId],
    artifacts: [{ taskId, artifact: second }],
    missing: [],
  });
  expect(await seenOf({ artifactId: 'a-2' }, { referenceTaskIds: [taskId] })).toMatchObject({
    artifacts: [{ taskId, artifact: second }],
    missing: [],
  });
  // Clients that fill in every member leave the task empty.
  expect(await seenOf({ taskId: '', artifactId: 'a-2' }, { referenceTaskIds: [taskId] })).toMatchObject({
    tasks: [taskId],
    artifacts: [{ taskId, artifact: second }],
    missing: [],
  });
  const references = [
    { taskId, artifactId: 'a-1' },
    { taskId, artifactId: 'a-2' },
  ];
  expect((await seenOf({ references })).artifacts.map(({ artifact }) => artifact.artifactId)).toEqual([
    'a-1',
    'a-2',
  ]);
  await close();
});

it('name tasks and artifacts that do not exist, or are not the caller’s, as missing [R-REF-02] [R-CTX-08]', async () => {
  const { taskId, seenOf, close } = await serveSeeing();
  expect(await seenOf({ taskId, artifactId: 'a-3' })).toEqual({
    tasks: [taskId],
    artifacts: [],
    missing: ['a-3'],
  });
  expect(await seenOf({ artifactId: 'a-2' })).toEqual({ tasks: [], artifacts: [], missing: ['a-2'] });
  expect(await seenOf({ taskId, artifactId: 'a-2' }, { who: 'bob' })).toEqual({
    tasks: [],
    artifacts: [],
    missing: [taskId, 'a-2'],
  });
  await close();
});

it.each([
  { artifactId: 7 },
  { artifactId: '' },
  { artifactId: null, references: 'a-1' },
  { references: [null, 7, 'a-1', [], { taskId: 'x' }] },
])('pass over metadata that names no artifact: %j', async (metadata) => {
  const { seenOf, close } = await serveSeeing();
  expect(await seenOf(metadata)).toEqual({ tasks: [], artifacts: [], missing: [] });
  await close();
});

it('are bounded', async () => {
  const { seenOf, close } = await serveSeeing();
  const references = Array.from({ length: 5_000 }, (_, n) => ({ taskId: `t-${n}`, artifactId: 'a-1' }));
  expect((await seenOf({ references })).missing).toHaveLength(200);
  await close();
});

it('are read until they weigh what an answer may hold', async () => {
  const memory = memoryStore();
  const agent: Agent = async function* () {
    yield completed('x'.repeat(1_000));
  };
  const server = serve(agent, { store: memory });
  const referenceTaskIds: string[] = [];
  for (let n = 0; n < 12; n++)
    referenceTaskIds.push((await rpc(server, 'SendMessage', { message: say('go') })).task.id);
  const { tasks, missing } = await referencesOf(memory, scope, say('see', { referenceTaskIds }), 10_000);
  const found = tasks.map(({ id }) => id);
  expect(found.length).toBeGreaterThan(1);
  expect(found.length).toBeLessThan(10);
  expect([...found, ...missing]).toEqual(referenceTaskIds);
});
