import { GENERATION } from '@batonjs/protocol/headers';
import type { TaskStore } from '@batonjs/store';
import { expect, it } from 'vitest';
import { rpc, type Seen, say, stream } from '../../../../test/kit/rpc.ts';
import { serveWith } from '../../../../test/kit/serve.ts';
import { type Agent, append, artifact, completed, inputRequired, working } from '../../src/index.ts';

const active = { 'a2a-extensions': GENERATION };

/** Several servers on one store count the generation of a task as one. `newStore` makes an empty store. */
export function generationScenarios(newStore: () => TaskStore): void {
  const serve = serveWith({ timeouts: { leaseMs: 2_000, storeMs: 2_000 }, compatibility: ['1.1'] });

  it('a long poll returns on the commit of another process [R-P11-14] [R-P11-35] [R-P11-39]', async () => {
    const store = newStore();
    const gate = Promise.withResolvers<void>();
    const agent: Agent = async function* () {
      yield working();
      await gate.promise;
      yield completed();
    };
    const [here, there] = [serve(agent, { store }), serve(agent, { store, run: 'workers' })];
    const configuration = { returnImmediately: true };
    const { task } = await rpc(here, 'SendMessage', { message: say('go'), configuration }, active);
    const { id } = task;
    const working2 = await rpc(there, 'GetTask', { id, currentGeneration: 1 }, active);
    expect(working2.generation).toBe('2');
    const waiting = rpc(there, 'GetTask', { id, currentGeneration: '2' }, active);
    gate.resolve();
    expect(await waiting).toMatchObject({ generation: '3', status: { state: 'TASK_STATE_COMPLETED' } });
  });

  it('of sends with one generation to several servers, one wins [R-P11-36] [R-P11-39]', async () => {
    const store = newStore();
    const agent: Agent = async function* () {
      yield inputRequired('Well?');
    };
    const servers = [1, 2, 3].map(() => serve(agent, { store }));
    const { task } = await rpc(servers[0]!, 'SendMessage', { message: say('go') }, active);
    for (let round = 0; round < 5; round += 1) {
      const { generation } = await rpc(servers[0]!, 'GetTask', { id: task.id }, active);
      const configuration = { ifGenerationMatch: generation };
      const results = await Promise.all(
        servers.map((server) =>
          rpc(
            server,
            'SendMessage',
            { message: say('answer', { taskId: task.id }), configuration },
            active,
          ).then(
            () => 'accepted',
            ({ reason }) => reason,
          ),
        ),
      );
      expect(results.sort()).toEqual(['TASK_GENERATION_MISMATCH', 'TASK_GENERATION_MISMATCH', 'accepted']);
    }
  });

  it('a stream that goes on at another server has every value once [R-P11-10] [R-P11-39]', async () => {
    const store = newStore();
    const gate = Promise.withResolvers<void>();
    const agent: Agent = async function* () {
      yield artifact('a', '0');
      for (let n = 1; n < 60; n += 1) {
        if (n === 30) await gate.promise;
        yield append('a', `${n}`);
      }
      yield completed();
    };
    const [here, there] = [serve(agent, { store }), serve(agent, { store, run: 'workers' })];
    const seen: Seen[] = [];
    const message = say('go');
    for await (const event of stream(here, 'SendStreamingMessage', { message }, active)) {
      seen.push(event);
      if (seen.length === 20) break;
    }
    const { id } = (seen[0]!.event as unknown as { task: { id: string } }).task;
    gate.resolve();
    const headers = { ...active, 'last-event-id': seen.at(-1)!.id! };
    for await (const event of stream(there, 'SubscribeToTask', { id }, headers)) seen.push(event);
    const values = seen.map(({ event }) =>
      Number((Object.values(event)[0] as { generation: string }).generation),
    );
    expect(values).toEqual(Array.from({ length: 62 }, (_, n) => n + 1));
    expect((await rpc(there, 'GetTask', { id }, active)).generation).toBe('62');
  });
}
