import { memoryStore } from '@batonjs/store-memory';
import { runTurn } from '@batonjs/testing';
import { describe, expect, it } from 'vitest';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { scope } from '../../../../../test/kit/scope.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { until } from '../../../../../test/kit/until.ts';
import { type Agent, completed, inputRequired, working } from '../../../src/index.ts';
import { createIdempotencyKeys } from '../../../src/turns/outside/callback-keys.ts';

/** The keys of a turn, and how often a secret was recorded. `fails`: how many records fail first. */
function keys(fails = 0, done: Record<string, unknown> = {}) {
  const recorded: unknown[] = [];
  const key = createIdempotencyKeys({
    done: (name) => (name in done ? { result: done[name] } : undefined),
    async complete(name, result) {
      recorded.push(name);
      if (recorded.length <= fails) throw new Error('The store is away');
      done[name] = result;
    },
  });
  return { key, recorded, done };
}

describe('an idempotency key', () => {
  it('is the same for the same name, and another one for another name', async () => {
    const { key, recorded } = keys();
    const [one, same, other] = await Promise.all([key('charge'), key('charge'), key('mail')]);
    expect(one).toMatch(/^[\w-]{43}$/);
    expect(same).toBe(one);
    expect(other).not.toBe(one);
    expect(await key('charge')).toBe(one);
    expect(recorded).toHaveLength(1);
  });

  it('is the same in a later attempt, which records nothing, and another one in another turn', async () => {
    const { key, done } = keys();
    const again = keys(0, done);
    const first = await key('charge');
    expect(await again.key('charge')).toBe(first);
    expect(again.recorded).toEqual([]);
    expect(await keys().key('charge')).not.toBe(first);
  });

  it('is given out only once its secret is recorded', async () => {
    const { key, recorded } = keys(1);
    await expect(key('charge')).rejects.toThrow('The store is away');
    expect(await key('charge')).toBe(await key('charge'));
    expect(recorded).toHaveLength(2);
  });

  it('does not tell its secret, which has 32 random bytes', async () => {
    const { key, done } = keys();
    const secret = String(await key('charge').then(() => Object.values(done)[0]));
    expect(Buffer.from(secret, 'base64')).toHaveLength(32);
    expect(await key('charge')).not.toContain(secret.slice(0, 8));
    const { done: other } = keys(0, {});
    expect(Object.values(other)).toEqual([]);
  });

  it.each(['', undefined, 7])('needs a name, which %j is not', async (name) => {
    await expect(keys().key(name as string)).rejects.toEqual(
      new TypeError('An idempotency key needs a name'),
    );
  });

  it.each(['toString', '__proto__', 'charge"]'])('may be called %s', async (name) => {
    const { key } = keys();
    expect(await key(name)).not.toBe(await key('charge'));
  });

  it('is the same in runTurn for a second attempt with the steps of the first', async () => {
    const seen: string[] = [];
    const agent: Agent = async function* ({ idempotencyKey }) {
      seen.push(await idempotencyKey('charge'));
      yield completed();
    };
    const { steps } = await runTurn(agent, 'go');
    await runTurn(agent, 'go', { attempt: 2, steps });
    await runTurn(agent, 'go');
    expect(seen[1]).toBe(seen[0]);
    expect(seen[2]).not.toBe(seen[0]);
  });
});

describe('on a server, an idempotency key', () => {
  it('outlives a server that closes in the middle, and differs by turn and task', async () => {
    const store = memoryStore();
    const seen: string[] = [];
    let entered = Promise.withResolvers<void>();
    const agent: Agent = async function* ({ text, attempt, idempotencyKey, step }) {
      yield working();
      await step('charge', async () => {
        seen.push(`${text} ${attempt} ${await idempotencyKey('charge')}`);
        entered.resolve();
        if (attempt === 1 && text === 'go') await new Promise(() => {});
      });
      if (text === 'go') yield inputRequired('And?');
      else yield completed();
    };
    const options = { store, restart: 'rerun' } as const;
    const first = serve(agent, options);
    const message = say('go');
    const { task } = await rpc(first, 'SendMessage', { message, configuration: { returnImmediately: true } });
    await entered.promise;
    await first.close({ graceMs: 0 });
    entered = Promise.withResolvers();
    const second = serve(agent, options);
    await until(second, task.id, 'INPUT_REQUIRED');
    await rpc(second, 'SendMessage', { message: say('on', { taskId: task.id }) });
    await rpc(second, 'SendMessage', { message: say('other') });
    const [one, again, nextTurn, otherTask] = seen.map((line) => line.split(' ')[2]);
    expect(seen.map((line) => line.split(' ').slice(0, 2))).toEqual([
      ['go', '1'],
      ['go', '2'],
      ['on', '1'],
      ['other', '1'],
    ]);
    expect(again).toBe(one);
    expect(new Set([one, nextTurn, otherTask]).size).toBe(3);
  });

  it('shows neither itself nor its secret to clients', async () => {
    const store = memoryStore();
    let key = '';
    const server = serve(
      async function* ({ idempotencyKey }) {
        key = await idempotencyKey('charge');
        yield completed('Done');
      },
      { store },
    );
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    const facts = await store.readFacts(scope, task.id, 0, 100);
    const secrets = facts.flatMap(({ fact }) =>
      fact.type === 'step-completed' ? [String(fact.result)] : [],
    );
    expect(secrets).toHaveLength(1);
    const shown = JSON.stringify([
      task,
      await rpc(server, 'GetTask', { id: task.id }),
      await rpc(server, 'ListTasks', { includeArtifacts: true }),
    ]);
    for (const secret of [key, ...secrets]) expect(shown).not.toContain(secret);
  });
});
