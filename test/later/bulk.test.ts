import { bulkTasks } from '@batonjs/operator';
import { type AgentServer, createAgentServer } from '@batonjs/server';
import { expect, it, vi } from 'vitest';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { node, run } from '../kit/processes.ts';
import { repetitions } from '../kit/repetitions.ts';
import { rpc, say } from '../kit/rpc.ts';
import { builtProgram } from '../support/built-program.ts';
import { asking } from './bulk-agent.ts';
import { openStore } from './open-store.ts';
import { storePlaces } from './store-places.ts';

const places = await storePlaces();

const cancelMany = await builtProgram(new URL('./cancel-many.ts', import.meta.url));
const tasks = repetitions(300, 10_000);
/** How many are sent at once. */
const atOnce = 50;

const totalOf = async (server: AgentServer, state: string): Promise<number> =>
  (await rpc(server, 'ListTasks', { status: `TASK_STATE_${state}`, pageSize: 1 })).totalSize;

it.each(places.kinds)(
  `a run over ${tasks} tasks whose process is killed in the middle is carried on, and ends complete: %s`,
  async (kind) => {
    const address = places.address(kind);
    const store = closedAfterTest(openStore(address));
    const server = closedAfterTest(createAgentServer({ ...asking, store }));
    for (let sent = 0; sent < tasks; sent += atOnce)
      await Promise.all(
        Array.from({ length: atOnce }, () => rpc(server, 'SendMessage', { message: say('go') })),
      );
    expect(await totalOf(server, 'INPUT_REQUIRED')).toBe(tasks);
    await using dying = run(node, [cancelMany, JSON.stringify(address), String(tasks / 2)]);
    expect(await dying.ended, dying.output).toBe('SIGKILL');
    const resume = /^run (.+)$/m.exec(dying.output)![1]!;
    // Others begin meanwhile, and are left alone.
    for (let more = 0; more < 3; more++) await rpc(server, 'SendMessage', { message: say('go') });
    let last: { readonly done: number; readonly skipped: number; readonly isOver: boolean } | undefined;
    for await (last of bulkTasks(server, { resume })) expect(last.done).toBeLessThanOrEqual(tasks);
    expect(last?.isOver).toBe(true);
    await vi.waitFor(async () => expect(await totalOf(server, 'CANCELED')).toBe(tasks), {
      timeout: 900_000,
      interval: 200,
    });
    expect(await totalOf(server, 'INPUT_REQUIRED')).toBe(3);
  },
  1_800_000,
);
