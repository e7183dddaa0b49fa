import type { Task } from '@batonjs/protocol';
import { SCHEDULING } from '@batonjs/protocol/headers';
import type { TaskStore } from '@batonjs/store';
import { describe, expect, it } from 'vitest';
import { frequentPolls } from '../../../../test/kit/frequent-polls.ts';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { scope } from '../../../../test/kit/scope.ts';
import { serveWith } from '../../../../test/kit/serve.ts';
import { eventually, until } from '../../../../test/kit/until.ts';
import { type Agent, type AgentServer, completed, inputRequired, working } from '../../src/index.ts';

/** Longer than a poll of these servers, and long enough for a message to be accepted before. */
const soonMs = 700;
const hourMs = 3_600_000;

/** Tasks that start or go on at a time. `newStore` makes an empty store; the caller closes it. */
export function laterScenarios(newStore: () => TaskStore): void {
  const serve = serveWith({
    clock: frequentPolls(200),
    card: {
      name: 'Test',
      description: 'For tests',
      capabilities: { extensions: [{ uri: SCHEDULING }] },
    },
  });
  const now = { returnImmediately: true };
  const at = (ms: number) => new Date(Date.now() + ms);

  async function send(server: AgentServer, text: string, notBefore?: Date, taskId?: string): Promise<Task> {
    const metadata = notBefore && { [SCHEDULING]: { notBefore: notBefore.toISOString() } };
    const message = say(text, { ...(metadata && { metadata }), ...(taskId && { taskId }) });
    const headers = { 'a2a-extensions': SCHEDULING };
    return (await rpc(server, 'SendMessage', { message, configuration: now }, headers)).task;
  }

  describe('a message that is postponed', () => {
    it('starts once, in one of several processes, and not before its time', async () => {
      const store = newStore();
      const started: number[] = [];
      const agent: Agent = async function* ({ text }) {
        started.push(Date.now());
        yield completed(text);
      };
      const [a, b] = [serve(agent, { store }), serve(agent, { store })];
      const notBefore = at(soonMs);
      const task = await send(a, 'report', notBefore);
      expect(task.status.state).toBe('TASK_STATE_SUBMITTED');
      expect((await until(b, task.id, 'COMPLETED')).status.message?.parts).toEqual([{ text: 'report' }]);
      expect(started).toHaveLength(1);
      expect(started[0]).toBeGreaterThanOrEqual(notBefore.getTime());
    });

    it('starts in a process that begins after all that knew of it have ended', async () => {
      const store = newStore();
      let started = 0;
      const agent: Agent = async function* () {
        started++;
        yield completed();
      };
      const first = serve(agent, { store, run: 'workers' });
      const { id } = await send(first, 'report', at(soonMs));
      await first.close();
      await until(serve(agent, { store }), id, 'COMPLETED');
      expect(started).toBe(1);
    });

    it('has a task that can be canceled, and is not started then', async () => {
      const store = newStore();
      let started = 0;
      const agent: Agent = async function* () {
        started++;
        yield completed();
      };
      const server = serve(agent, { store });
      const { id } = await send(server, 'never', at(hourMs));
      expect((await rpc(server, 'CancelTask', { id })).status.state).toBe('TASK_STATE_CANCELED');
      expect((await store.load(scope, id))?.head.dueAt).toBeUndefined();
      expect(started).toBe(0);
    });

    it('leaves a task that waits as it is until its time; another message is taken at once', async () => {
      const store = newStore();
      const turns: string[] = [];
      const agent: Agent = async function* ({ text }) {
        turns.push(text);
        yield text === 'end' ? completed(text) : inputRequired('And now?');
      };
      const [a, b] = [serve(agent, { store }), serve(agent, { store })];
      const { id } = await send(a, 'go');
      await until(b, id, 'INPUT_REQUIRED');
      const notBefore = at(hourMs);
      await send(b, 'much later', notBefore, id);
      await eventually(async () =>
        expect((await store.load(scope, id))?.head.dueAt).toBe(notBefore.toISOString()),
      );
      expect((await rpc(a, 'GetTask', { id })).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
      await send(a, 'at once', undefined, id);
      await eventually(() => expect(turns).toEqual(['go', 'at once']));
      await send(a, 'end', at(soonMs), id);
      await until(a, id, 'COMPLETED');
      expect(turns).toEqual(['go', 'at once', 'end']);
    });
  });

  describe('a turn that asks for a time', () => {
    const sleeping = (seen: { woken: boolean; text: string }[], ms: number): Agent =>
      async function* ({ wakeAt, woken, text }) {
        seen.push({ woken, text });
        if (seen.length > 1) return yield completed(text);
        yield working('Sleeping');
        await wakeAt(at(ms));
      };

    it('goes on then, in a process that begins after the first has ended', async () => {
      const store = newStore();
      const seen: { woken: boolean; text: string }[] = [];
      const agent = sleeping(seen, soonMs);
      const first = serve(agent, { store });
      const { id } = await send(first, 'go');
      await until(first, id, 'WORKING');
      await first.close();
      await until(serve(agent, { store }), id, 'COMPLETED');
      expect(seen).toEqual([
        { woken: false, text: 'go' },
        { woken: true, text: 'go' },
      ]);
    });

    it('goes on at once if the time has come', async () => {
      const seen: { woken: boolean; text: string }[] = [];
      const server = serve(sleeping(seen, -1_000), { store: newStore() });
      const { id } = await send(server, 'go');
      await until(server, id, 'COMPLETED');
      expect(seen.map(({ woken }) => woken)).toEqual([false, true]);
    });

    it('goes on before for a message, and forgets the time', async () => {
      const store = newStore();
      const seen: string[] = [];
      const agent: Agent = async function* ({ wakeAt, woken, text }) {
        seen.push(woken ? 'woken' : text);
        if (text === 'go') await wakeAt(at(hourMs));
        yield inputRequired('And now?');
      };
      const server = serve(agent, { store });
      const { id } = await send(server, 'go');
      await until(server, id, 'INPUT_REQUIRED');
      expect((await store.load(scope, id))?.head.dueAt).toBeDefined();
      await send(server, 'sooner', undefined, id);
      await eventually(async () => {
        expect(seen).toEqual(['go', 'sooner']);
        expect((await store.load(scope, id))?.head.dueAt).toBeUndefined();
      });
    });

    it('may ask for none, and then has to end the task', async () => {
      const agent: Agent = async function* ({ wakeAt }) {
        yield working();
        await wakeAt(at(hourMs));
        await wakeAt(undefined);
      };
      const server = serve(agent, { store: newStore() });
      const { id } = await send(server, 'go');
      await until(server, id, 'FAILED');
    });
  });
}
