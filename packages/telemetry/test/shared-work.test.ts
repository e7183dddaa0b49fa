import { completed, inputRequired, working } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { telemetry } from '@batonjs/telemetry';
import { trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { change } from '../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { serve } from '../../../test/kit/serve.ts';
import { eventually } from '../../../test/kit/until.ts';
import { observed } from './observed.ts';

const activeSpan = () => trace.getActiveSpan()?.spanContext().spanId;
const traceparent = (digit: string) => ({ traceparent: `00-${digit.repeat(32)}-${digit.repeat(16)}-01` });
const now = { returnImmediately: true };

describe('work that requests share', () => {
  it('belongs to no trace of a request: leases are renewed outside all spans', async () => {
    const { providers } = observed();
    const lines: [string, Readonly<Record<string, unknown>>][] = [];
    const spansOfRenewals: (string | undefined)[] = [];
    // No lease of it ever ends: on a busy machine one of the two would before both are renewed.
    const store = change(memoryStore({ monotonic: () => 0 }), {
      renew: () => async () => {
        spansOfRenewals.push(activeSpan());
        throw new Error('no answer');
      },
    });
    const over = Promise.withResolvers<void>();
    const server = serve(
      async function* () {
        yield working();
        await over.promise;
        yield completed();
      },
      {
        store,
        timeouts: { leaseMs: 30 },
        telemetry: telemetry(providers),
        logger: (_level, message, details) => void lines.push([message, details]),
      },
    );
    for (const digit of ['a', 'b'])
      await rpc(server, 'SendMessage', { message: say('go'), configuration: now }, traceparent(digit));
    const failures = () => lines.filter(([message]) => message === 'Could not renew leases');
    await eventually(() => {
      if (!failures().some(([, { leases }]) => leases === 2)) throw new Error('not yet');
    });
    over.resolve();
    for (const [, details] of failures()) expect(details).not.toHaveProperty('traceId');
    expect(new Set(spansOfRenewals)).toEqual(new Set([undefined]));
  });

  it('belongs to no trace of a request: the watch for a blocked event loop', async () => {
    const { providers } = observed();
    const lines: [string, Readonly<Record<string, unknown>>][] = [];
    let ahead = 0;
    const over = Promise.withResolvers<void>();
    const server = serve(
      async function* () {
        yield working();
        await over.promise;
        yield completed();
      },
      {
        clock: { monotonic: () => performance.now() + ahead },
        telemetry: telemetry(providers),
        logger: (_level, message, details) => void lines.push([message, details]),
        logsStalls: true,
      },
    );
    await rpc(server, 'SendMessage', { message: say('go'), configuration: now }, traceparent('a'));
    ahead = 5_000;
    const line = await eventually(() => {
      const found = lines.find(([message]) => message === 'The event loop was blocked');
      if (!found) throw new Error('not yet');
      return found;
    });
    over.resolve();
    expect(line[1]).not.toHaveProperty('traceId');
  });

  it('belongs to no trace of a request: turns of dead processes that it found are started outside it', async () => {
    const { providers, ended } = observed();
    const spansOfStarts: (string | undefined)[] = [];
    const store = change(memoryStore(), {
      // Only requests claim, and what they find looks like the task of a dead process.
      claim: (claim) => async (request) => {
        const leases = request.task ? await claim(request) : [];
        return leases.map((lease) => ({ ...lease, cause: 'expired' }));
      },
      commit: (commit) => (given) => {
        if (given.facts.some(({ type }) => type === 'turn-started')) spansOfStarts.push(activeSpan());
        return commit(given);
      },
    });
    const server = serve(
      async function* ({ text }) {
        yield text === 'go' ? inputRequired('How many?') : completed();
      },
      { store, restart: 'rerun', telemetry: telemetry(providers) },
    );
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    await rpc(server, 'SendMessage', { message: say('two', { taskId: task.id }) });
    const [first] = await ended('SendMessage', 2);
    expect(spansOfStarts).toEqual([first!.spanContext().spanId, undefined]);
  });
});
