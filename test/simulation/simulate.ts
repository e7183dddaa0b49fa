import { createAgentServer } from '@batonjs/server';
import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { countingAgent, retryOf } from '../../scripts/workload/agent.ts';
import { pick, seeded } from '../../scripts/workload/random.ts';
import { TaskClient, type World } from '../../scripts/workload/task-client.ts';
import { judge, readLogs, unsettled } from '../../scripts/workload/verdict.ts';
import { faultyStore } from '../histories/faults.ts';
import type { KeptLog, Observation, Violation } from '../histories/history.ts';
import { scope } from '../kit/scope.ts';
import { remoteStore } from './remote-store.ts';
import { leaseMs, type Scenario } from './scenario.ts';
import { VirtualProcess } from './virtual-process.ts';
import { VirtualTime } from './virtual-time.ts';
import { virtualWire } from './virtual-wire.ts';

/** Everything that a run has shown. */
export interface Simulated {
  readonly violations: readonly Violation[];
  readonly logs: readonly KeptLog[];
  readonly observations: readonly Observation[];
  /** How many events it took. */
  readonly events: number;
}

export interface SimulateOptions {
  /** The protection that is taken out of the store, to see that tests fail without it. */
  readonly spoil?: (store: TaskStore) => TaskStore;
  /** How often servers sweep, in milliseconds. */
  readonly sweepEveryMs?: number;
  /** Called with the log of servers. */
  readonly logger?: (message: string, details: unknown) => void;
}

const disturbedMs = 1_300;
const longestMs = 20_000;

/** Servers over one store and clients that work with them, in virtual time: the same scenario always does the same. */
export async function simulate(scenario: Scenario, options: SimulateOptions = {}): Promise<Simulated> {
  const { seed, skewsMs, restart, latencyMs, rates } = scenario;
  const time = new VirtualTime(seeded(`${seed} order`));
  const base = memoryStore({ now: () => time.now, monotonic: () => time.now });
  const observations: Observation[] = [];
  const violations: Violation[] = [];
  let calm = false;
  let incarnations = 0;

  function start(skewMs: number) {
    const name = `${seed} process ${incarnations++}`;
    const process = new VirtualProcess(time, name, skewMs);
    const random = seeded(`${name} network`);
    const latency = () => Math.round(random() * latencyMs);
    const spoiled = options.spoil ? options.spoil(base) : base;
    const faulty = faultyStore<TaskStore>(spoiled, {
      random: seeded(`${name} faults`),
      rates,
      sleep: (ms) => time.sleep(ms),
      maxDelayMs: leaseMs / 2,
      active: () => !calm,
    });
    const server = createAgentServer({
      card: { name: 'Simulated', description: 'Counts' },
      agent: countingAgent((ms) => process.clock.sleep(ms)),
      store: remoteStore(faulty, { time, process, latency }),
      clock: process.clock,
      restart: restart === 'rerun' ? { maxAttempts: 1_000 } : restart,
      retry: retryOf(leaseMs),
      timeouts: {
        leaseMs,
        sweepMs: options.sweepEveryMs ?? leaseMs / 2,
        storeMs: leaseMs,
        cancelGraceMs: leaseMs / 4,
        cancelMs: leaseMs,
        blockingMs: leaseMs,
      },
      messages: { idempotency: true },
      logger: (_level, message, details) => options.logger?.(`${time.now} ${name}: ${message}`, details),
    });
    return { process, server, latency };
  }

  const servers = skewsMs.map(start);
  const permitted = { is: true, wake: Promise.withResolvers<void>() };
  const lateness = Promise.withResolvers<void>();
  const taskClients = scenario.tasks.map((plan) => {
    const random = seeded(`${seed} client ${plan.name}`);
    const world: World = {
      wire: () => virtualWire({ time, ...pick(random, servers), patienceMs: leaseMs * 3 }),
      sleep: (ms) => time.sleep(ms),
      random,
      permission: () => (permitted.is ? Promise.resolve() : permitted.wake.promise),
      lateness: () => lateness.promise,
      observe: (observation) => observations.push(observation),
      complain: (violation) => violations.push(violation),
    };
    const taskClient = new TaskClient(plan, world);
    let over = false;
    time.schedule(plan.at, () => {
      taskClient
        .run()
        .catch((error: unknown) => {
          const { taskId = '' } = taskClient;
          violations.push({ kind: 'lost', taskId, client: plan.name, message: String(error) });
        })
        .finally(() => {
          over = true;
        });
    });
    return { taskClient, isOver: () => over };
  });

  for (const { at, server, what, ms } of scenario.disturbances) {
    const place = server % servers.length;
    time.schedule(at, () => {
      const victim = servers[place]!;
      if (what === 'pause') {
        victim.process.pause();
        time.schedule(ms, () => victim.process.resume());
      } else if (!victim.process.isDead) {
        victim.process.kill();
        time.schedule(ms, () => {
          servers[place] = start(skewsMs[place]!);
        });
      }
    });
  }

  const lastEnd = scenario.disturbances.map(({ at, ms }) => at + ms);
  await time.pass(Math.max(disturbedMs, ...lastEnd) + 1);
  // Requests under way settle. No client sends anything new meanwhile.
  calm = true;
  permitted.is = false;
  await time.pass(leaseMs * 8);
  const scopes = [scope];
  for (const { taskId, head } of unsettled(await readLogs(base, scopes)))
    violations.push({ kind: 'stuck', taskId, message: `it is ${head.state ?? 'no task'}` });
  permitted.is = true;
  permitted.wake.resolve();
  lateness.resolve();
  await time.pass(longestMs, () => taskClients.every(({ isOver }) => isOver()));

  for (const { taskClient, isOver } of taskClients) {
    taskClient.report();
    const { taskId = '', plan } = taskClient;
    if (!isOver())
      violations.push({ kind: 'stuck', taskId, client: plan.name, message: 'its client still waits' });
  }
  const logs = await readLogs(base, scopes);
  violations.push(...judge(logs, observations, { settled: violations.length === 0 }));
  for (const { process } of servers) process.kill();
  return { violations, logs, observations, events: time.events };
}
