import { setTimeout as sleep } from 'node:timers/promises';
import { connectTasks, type TaskClient, type TaskUpdate } from '@batonjs/task-gateway/client';
import { freePort } from '../../test/kit/processes.ts';
import { mediumOf } from '../chaos/medium.ts';
import { between, pick, seeded } from '../workload/random.ts';
import { serveLedgerAgent } from './agent.ts';
import { Member } from './member.ts';
import type { GatewayChaosOptions } from './options.ts';

/** What a run has shown. */
export interface GatewayChaosReport {
  readonly tasks: number;
  readonly kills: number;
  /** Runs of the agent: its ledger, summed up. */
  readonly runs: number;
  readonly twice: number;
  /** Tasks without their result at the end. */
  readonly lost: number;
  /** Only of an agent without idempotency: tasks that failed because nobody knows whether the agent got them. */
  readonly unknown: number;
  /** Updates that watchers saw, and watchers that missed, repeated or reordered one. */
  readonly updates: number;
  readonly disordered: number;
  readonly violations: readonly string[];
}

/** Tasks that are submitted and not ended at a time. */
const underWay = 30;
/** After this, a task that has not ended is lost. */
const longestMs = 180_000;

export async function chaos(options: GatewayChaosOptions): Promise<GatewayChaosReport> {
  const { leaseMs, foreign } = options;
  const random = seeded(options.seed);
  const place = await mediumOf(options.store).prepare(undefined);
  const agent = await serveLedgerAgent(!foreign);
  const orders = { store: options.store, location: place.location, agent: agent.url, leaseMs };
  const members = [
    new Member({ ...orders, port: await freePort() }),
    new Member({ ...orders, port: await freePort() }),
  ];
  const clients = members.map(({ url }) => connectTasks(url, { retryForMs: longestMs }));
  const violations: string[] = [];
  const stop = new AbortController();
  let kills = 0;

  async function killOnAndOn(): Promise<void> {
    while (!stop.signal.aborted && kills < options.kills) {
      await sleep(between(random, leaseMs / 4, leaseMs));
      const victim = pick(random, members);
      kills += 1;
      // A process that is stopped while it sends sends once more: only idempotency excludes that.
      if (foreign || random() < 0.7) {
        await victim.kill();
        await sleep(between(random, 0, leaseMs));
        await victim.start();
      } else await victim.stop(between(random, leaseMs / 2, leaseMs * 2));
    }
  }

  const seen = { updates: 0, lost: 0, unknown: 0, disordered: 0 };
  try {
    await Promise.all(members.map((member) => member.start()));
    const killing = killOnAndOn();
    const ids = Array.from({ length: options.tasks }, (_, n) => n).values();
    const work = async () => {
      for (const n of ids) await oneTask(n);
    };
    const oneTask = async (n: number) => {
      const taskId = `task-${n}`;
      const submission = { taskId, type: 'count', data: { n } };
      const signal = AbortSignal.timeout(longestMs);
      try {
        await Promise.all(clients.map((client) => client.submit(submission)));
        const watched = await Promise.all(
          clients.map((client) => allOf(client.watch(taskId, { after: 0, signal }))),
        );
        const task = await clients[n % 2]!.get(taskId);
        if (task.error?.code === 'OUTCOME_UNKNOWN' && foreign) seen.unknown += 1;
        else if ((task.result as { n?: number } | undefined)?.n !== n) {
          seen.lost += 1;
          violations.push(`${taskId} ended as ${JSON.stringify(task)}`);
        }
        const history = await historyOf(members[n % 2]!.url, taskId);
        for (const updates of watched) {
          seen.updates += updates.length;
          const sequences = updates.map(({ sequence }) => sequence);
          if (sequences.join() === history.join()) continue;
          seen.disordered += 1;
          violations.push(`${taskId} was seen as ${sequences}, but its log has ${history}`);
        }
      } catch (error) {
        seen.lost += 1;
        violations.push(`${taskId}: ${error}`);
      }
    };
    await Promise.all(Array.from({ length: underWay }, work));
    stop.abort();
    await killing;
  } finally {
    for (const client of clients) client.close();
    await Promise.all(members.map((member) => member.kill()));
    await agent.close();
    await place.remove();
  }
  const twice = [...agent.ledger].filter(([, runs]) => runs > 1);
  for (const [n, runs] of twice) violations.push(`task-${n} was run ${runs} times`);
  const runs = [...agent.ledger.values()].reduce((sum, count) => sum + count, 0);
  return { tasks: options.tasks, kills, runs, twice: twice.length, ...seen, violations };
}

async function allOf(updates: ReturnType<TaskClient['watch']>): Promise<TaskUpdate[]> {
  const all: TaskUpdate[] = [];
  for await (const update of updates) all.push(update);
  return all;
}

/** The sequences in the log of a task, from a process that may just be starting again. */
async function historyOf(url: string, taskId: string): Promise<number[]> {
  for (;;) {
    const response = await fetch(`${url}/task/${taskId}/history`).catch(() => undefined);
    if (!response?.ok) {
      await sleep(100);
      continue;
    }
    const { transitions } = (await response.json()) as { transitions: { sequence: number }[] };
    return transitions.map(({ sequence }) => sequence);
  }
}
