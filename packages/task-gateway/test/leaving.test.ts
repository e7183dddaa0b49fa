import { createServer } from 'node:http';
import { type Authenticate, inputRequired, working } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { createTaskGateway } from '@batonjs/task-gateway';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { change } from '../../../test/kit/faulty-store.ts';
import { listen } from '../../../test/kit/listen.ts';
import { serve } from '../../../test/kit/serve.ts';
import { eventually } from '../../../test/kit/until.ts';
import { untilAborted } from '../../../test/kit/until-aborted.ts';
import { countHeld, nothingMore } from '../../../test/leaving/held.ts';
import { clients, closedDoor, comeAndLeave, hold, visitUrl } from '../../../test/leaving/visits.ts';

const agent = () =>
  serve(async function* ({ message, signal }) {
    if (JSON.stringify(message).includes('ask')) return yield inputRequired('Well?');
    yield working('At it');
    await untilAborted(signal);
  });

/** A gateway whose clients and whose store wait at a door of their own, once they are told to. */
async function serveGateway() {
  const held = countHeld();
  const arrival = closedDoor();
  const storage = closedDoor();
  const closed = { arrival: false, storage: false };
  const authenticate: Authenticate = async () => {
    if (closed.arrival) await arrival.pass();
    return { scope: 'someone' };
  };
  const store = change(held.store, {
    list: (list) => async (scope, query) => {
      if (closed.storage) await storage.pass();
      return list(scope, query);
    },
    subscribe: (subscribe) => async (topic, notify) => {
      const unsubscribe = await subscribe(topic, notify);
      if (closed.storage) await storage.pass();
      return unsubscribe;
    },
  });
  const gateway = closedAfterTest(
    createTaskGateway({ types: { held: agent() }, store, authenticate, logger: () => {} }),
  );
  const listener = held.watch(createServer(nodeHandler(gateway)));
  gateway.attach(listener);
  const url = await listen(listener);
  /** Creates a task for each client, and waits until its agent has it. */
  const begin = async (what: 'ask' | 'work') => {
    for (let n = 0; n < clients; n++) {
      const body = JSON.stringify({ taskId: `t${n}`, type: 'held', data: { what } });
      await fetch(`${url}/task`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      await eventually(async () => {
        const history = await (await fetch(`${url}/task/t${n}/history`)).text();
        expect(history).toContain(what === 'ask' ? 'Well?' : 'At it');
      });
    }
  };
  return { held, url, arrival, storage, closed, begin };
}

type Visit = (url: string) => (client: number, signal: AbortSignal) => Promise<unknown>;

const get =
  (path: (client: number) => string): Visit =>
  (url) =>
  (client, signal) =>
    visitUrl(`${url}${path(client)}`, signal);

const poll = get((client) => `/task/t${client}?after=1000&wait=60`);
const list = get(() => '/task');

const subscribe: Visit = (url) => async (client, signal) => {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/task/updates`);
  socket.on('open', () => socket.send(JSON.stringify({ event: 'subscribe', taskId: `t${client}` })));
  socket.on('error', () => {});
  await untilAborted(signal);
  socket.terminate();
};

const subscribed = hold('a subscription of a task');

describe('clients of a gateway that leave', () => {
  it.each([
    ['a long poll of a task at work', 'work', poll],
    ['a long poll of a task that waits for input', 'ask', poll],
    ['the updates of a task at work', 'work', subscribe],
    ['the updates of a task that waits for input', 'ask', subscribe],
  ] as const)('leave nothing behind: %s', async (_, what, visit) => {
    const { held, url, begin } = await serveGateway();
    await begin(what);
    await comeAndLeave(held, { visit: visit(url), areThere: subscribed });
  });

  it.each([
    ['a long poll', poll],
    ['a list', list],
    ['updates', subscribe],
  ] as const)('leave nothing behind before the gateway knows who they are: %s', async (_, visit) => {
    const { held, url, begin, arrival, closed } = await serveGateway();
    await begin('work');
    closed.arrival = true;
    await comeAndLeave(held, {
      visit: visit(url),
      areThere: () => expect(arrival.waiting).toBe(clients),
      afterwards: arrival.open,
    });
  });

  it.each([
    ['a long poll', poll],
    ['a list', list],
    ['updates', subscribe],
  ] as const)('leave nothing behind while the store answers: %s', async (_, visit) => {
    const { held, url, begin, storage, closed } = await serveGateway();
    await begin('work');
    closed.storage = true;
    await comeAndLeave(held, {
      visit: visit(url),
      areThere: () => expect(storage.waiting).toBe(clients),
      afterwards: storage.open,
    });
  });

  it('leave nothing behind when their time is over: a long poll', async () => {
    const { held, url, begin } = await serveGateway();
    await begin('work');
    const visit = get((client) => `/task/t${client}?after=1000&wait=1`)(url);
    const before = held.now();
    await Promise.all(Array.from({ length: clients }, (_, n) => visit(n, new AbortController().signal)));
    await nothingMore(before, () => held.now());
  });
});
