import { completed, failed, type Turn, working } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { expect, it, onTestFinished } from 'vitest';
import { serve } from '../../../test/kit/serve.ts';
import type { Operation } from '../src/load/operations.ts';
import { runLoad } from '../src/load/run-load.ts';
import { cli } from './cli.ts';

async function agent(limits = {}) {
  const server = serve(
    async function* ({ text }: Turn) {
      yield working();
      yield text === 'fails' ? failed('secret-word') : completed();
    },
    { limits },
  );
  const { url, close } = await listen(server);
  onTestFinished(() => close());
  return { url, server };
}

it('prints rates, latencies and errors of a mix of calls', async () => {
  const { url } = await agent();
  const mix = 'send=2,stream=1,async=1,get=1,list=1';
  const ran = await cli(`load -a ${url} --callers 3 --rate 120/s --duration 500ms --mix ${mix} -o json`);
  expect(ran.code).toBe(0);
  const calls = Object.fromEntries(
    ran.json.rows.map(({ operation, calls }: { operation: string; calls: number }) => [operation, calls]),
  );
  expect(calls).toEqual({ send: 20, stream: 10, 'stream first event': 10, async: 10, get: 10, list: 10 });
  for (const { p50, p95, p99, max, errors } of ran.json.rows) {
    expect([p50, p95, p99, max]).toEqual([p50, p95, p99, max].sort((a, b) => a - b));
    expect(errors).toEqual({});
  }
  const text = await cli(`load -a ${url} --callers 1 --rate 20/s --duration 100ms`);
  expect(text.stdout).toMatch(/^operation +calls +calls\/s +p50 ms/);
  expect(text.stdout).toMatch(/^send +2 /m);
});

it('counts refusals by their reason, and fails if no call succeeds', async () => {
  const { url, server } = await agent();
  const closing = server.close({ graceMs: 10_000 });
  const ran = await cli(`load -a ${url} --callers 2 --rate 20/s --duration 200ms -o json`, {});
  await closing;
  if (ran.json) {
    expect(ran.code).toBe(1);
    expect(Object.keys(ran.json.rows[0].errors)).toEqual(['UNAVAILABLE']);
  } else expect(ran.code).not.toBe(0);
});

it('ends at Ctrl-C, and prints what it has measured', async () => {
  const { url } = await agent();
  const leave = new AbortController();
  const running = cli(`load -a ${url} --callers 2 --duration 1h -o json`, {
    signal: leave.signal,
    onWrite: (stream) => stream === 'stderr' && setTimeout(() => leave.abort(), 200),
  });
  const ran = await running;
  expect([ran.code, ran.json.rows[0].calls > 0]).toEqual([130, true]);
  expect(ran.json.ms).toBeLessThan(60_000);
});

it('counts the wait of a call that begins late, where a rate was asked for', async () => {
  let now = 0;
  const clock = {
    now: () => now,
    sleep: async (ms: number) => {
      now += ms;
    },
  };
  // One caller, calls that take 100 ms, and one is due every 50 ms.
  const slow: Operation = async () => {
    now += 100;
  };
  const none: Operation = async () => {};
  const { kinds } = await runLoad({
    operations: { send: slow, stream: none, async: none, get: none, list: none },
    mix: { send: 1 },
    callers: 1,
    rate: 20,
    durationMs: 200,
    signal: new AbortController().signal,
    clock,
  });
  expect(kinds.get('send')?.latencies).toEqual([100, 150, 200, 250]);
});
