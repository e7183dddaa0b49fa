import { completed, createAgentServer, inputRequired, labels, working } from '@batonjs/server';
import type { PushConfigStore, TaskStore } from '@batonjs/store';
import type { StoredTask } from '@batonjs/store/rules';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { scope } from '../../../../test/kit/scope.ts';
import { type KeyedFact, transferOf } from '../../src/deployment/store/read-store.ts';

export type Store = TaskStore & PushConfigStore;

export const secrets = ['remembered-secret', 'token-secret', 'credentials-secret', 'key-secret'];

/** A server that works on a store: of tasks that end, ask or last, with memory, steps and labels. */
export const serveOn = (store: Store) =>
  createAgentServer({
    card: { name: 'Used', description: 'Is used' },
    store,
    logger: () => {},
    agent: async function* ({ text, step, memory, signal }) {
      await step('add', () => 1 + 1);
      await memory.set('note', secrets[0]);
      yield labels(['eu', text]);
      yield working();
      if (text === 'ask') return yield inputRequired('Which one?');
      if (text === 'last') await new Promise((resolve) => signal.addEventListener('abort', resolve));
      yield completed(`${text} – ü 😀`);
    },
  });

/** Fills a store with all that a store keeps. Resolves to the ids of the tasks by their texts. */
export async function fill(store: Store): Promise<Record<'done' | 'ask' | 'canceled' | 'last', string>> {
  const server = serveOn(store);
  const send = async (text: string, configuration = {}) =>
    (await rpc(server, 'SendMessage', { message: say(text), configuration })).task.id as string;
  const [done, ask, canceled] = [await send('done'), await send('ask'), await send('ask')];
  await rpc(server, 'CancelTask', { id: canceled });
  const last = await send('last', { returnImmediately: true });
  const id = 'hook';
  const authentication = { scheme: 'Bearer', credentials: secrets[2]! };
  const config = { id, taskId: done, url: 'https://hooks.invalid/', token: secrets[1]!, authentication };
  await store.putPushConfig({
    scope,
    taskId: done,
    id,
    config,
    protocolVersion: '1.0',
    queue: 'agent',
    cursor: 2,
  });
  await store.putRecord('callback-keys', 0, { keys: [secrets[3]] });
  await store.putRecord('of/scope', 0, { some: 'thing' }, { scope, ttlMs: 1e9 });
  await server.close({ graceMs: 0 });
  return { done, ask, canceled, last };
}

/** All that has to be the same after a move, by its name. */
export async function contentOf(store: TaskStore): Promise<Record<string, unknown>> {
  const transfer = transferOf(store);
  const content: Record<string, unknown> = {};
  for (let from: string | undefined, isFirst = true; isFirst || from !== undefined; isFirst = false) {
    const { rows, next } = await transfer.tasks(from, 7);
    for (const name of rows) {
      const task = (await transfer.read(name))!;
      const facts = await transfer.facts(name, 0, task.row.version + 1);
      content[name.taskId] = lasting(task, facts);
    }
    from = next;
  }
  for (const { revision: _, ...record } of await transfer.records(undefined, 1_000))
    content[record.name] = plain(record);
  return content;
}

const lasting = ({ row, webhooks, ...task }: StoredTask, facts: readonly KeyedFact[]) =>
  plain({
    ...task,
    row: { ...row, revision: 0, leaseUntil: row.leaseUntil !== undefined, leasedAt: 0 },
    webhooks: webhooks.map((webhook) => ({ ...webhook, revision: 0, readyAt: 0 })),
    facts,
  });

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
