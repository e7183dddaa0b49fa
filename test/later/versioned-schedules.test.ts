import type { TaskStore } from '@batonjs/store';
import { expect, it, vi } from 'vitest';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { node, run } from '../kit/processes.ts';
import { scope } from '../kit/scope.ts';
import { builtProgram } from '../support/built-program.ts';
import { openStore } from './open-store.ts';
import type { VersionOrders } from './serve-versioned.ts';
import { storePlaces } from './store-places.ts';

const places = await storePlaces();

const serveVersioned = await builtProgram(new URL('./serve-versioned.ts', import.meta.url));
const label = 'schedule:tick';

/** Every task of the schedule: when it was due in seconds, which versions had a turn of it, and what it says. */
async function ticks(store: TaskStore) {
  const { tasks } = await store.list(scope, { limit: 1_000, labels: [label] });
  const found = tasks.map(async ({ taskId }) => {
    const facts = (await store.readFacts(scope, taskId, 0, 100)).map(({ fact }) => fact);
    const [first] = facts;
    const schedule = first?.type === 'message-received' && first.metadata?.schedule;
    const says = facts.flatMap((fact) => {
      const [part] = fact.type === 'status-changed' ? (fact.status.message?.parts ?? []) : [];
      return part && 'text' in part ? [part.text] : [];
    });
    return {
      dueAt: Date.parse((schedule as { dueAt: string }).dueAt) / 1_000,
      versions: facts.flatMap((fact) => (fact.type === 'turn-started' ? [fact.version] : [])),
      says: says.at(-1),
    };
  });
  return (await Promise.all(found)).toSorted((one, other) => one.dueAt - other.dueAt);
}

it.each(places.kinds)(
  'a task that a schedule starts is pinned to the version of the process that runs it, and starts once: %s',
  async (kind) => {
    const address = places.address(kind);
    const store = closedAfterTest(openStore(address));
    const serve = async (version: string, holds = false) => {
      const orders: VersionOrders = { address, version, holds };
      const process = run(node, [serveVersioned, JSON.stringify(orders)]);
      await process.until(/ready/);
      return process;
    };
    const saying = async (text: string) => (await ticks(store)).filter(({ says }) => says === text);
    const atLeast = (count: number, text: string) =>
      vi.waitFor(async () => expect((await saying(text)).length).toBeGreaterThanOrEqual(count), {
        timeout: 60_000,
        interval: 100,
      });
    await using old = await serve('v1', true);
    await atLeast(1, 'tried by v1');
    await using next = await serve('v2');
    old.signal('SIGKILL');
    await old.ended;
    const begunByOld = async () => (await ticks(store)).filter(({ versions }) => versions.includes('v1'));
    const left = (await begunByOld()).length;
    // Longer than the lease of the process that was killed.
    await atLeast(2, 'done by v2');
    expect(await begunByOld()).toHaveLength(left);
    await vi.waitFor(async () => expect(await store.pinned!('agent', 'v1', 99)).toHaveLength(left), 30_000);
    await using again = await serve('v1');
    await atLeast(left, 'done by v1');
    for (const process of [next, again]) process.signal('SIGKILL');
    await Promise.all([next.ended, again.ended]);
    const all = await ticks(store);
    for (const { versions, says, dueAt } of all.filter(({ says }) => says !== undefined))
      expect([...new Set(versions)], `${dueAt}`).toEqual([says!.slice(-2)]);
    expect(all.map(({ dueAt }) => dueAt)).toEqual(all.map((_, index) => all[0]!.dueAt + index));
  },
);
