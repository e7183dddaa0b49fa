import { setTimeout as sleep } from 'node:timers/promises';
import type { TaskStore } from '@batonjs/store';
import type { KeptLog, Observation, Violation } from '../../test/histories/history.ts';
import { scopeOf } from '../../test/kit/scope.ts';
import { randomPlan } from '../workload/plan.ts';
import { pick, seeded } from '../workload/random.ts';
import { endsInTime, stuckLogs } from '../workload/stuck.ts';
import { TaskClient, type World } from '../workload/task-client.ts';
import { countByKind, judge, readLogs } from '../workload/verdict.ts';
import { Fleet } from './fleet.ts';
import { httpWire } from './http-wire.ts';
import { type Kills, killAtRandom } from './killer.ts';
import { mediumOf } from './medium.ts';
import type { ChaosOptions } from './options.ts';
import type { ServerOrders } from './server.ts';

/** What a run has shown. */
export interface ChaosReport {
  readonly kills: number;
  /** How many of them were of the store's own server, if it has one. */
  readonly storeKills?: number;
  readonly tasks: number;
  readonly counts: ReturnType<typeof countByKind>;
  readonly violations: readonly Violation[];
  /** What was stored. */
  readonly logs: readonly KeptLog[];
}

/**
 * What happens to the processes while clients work. `kill`: kills or stops that many at random, one after the other.
 * Resolves to where the tasks are in the end, too, if they were moved.
 */
export type Events = (
  fleet: Fleet,
  kill: (kills: number) => Promise<Kills>,
  location: string,
) => Promise<Kills & Partial<Pick<ServerOrders, 'store' | 'location'>>>;

/** Too late to begin anything: the run is over. */
class Over extends Error {}

/** Of its two agents. */
export const scopes = ['rerun', 'fail'].map((agent) => scopeOf(agent));

/**
 * Kills server processes while clients work with them, then reads the store and says what went wrong. `events`: what happens to
 * the processes instead.
 */
export async function chaos(options: ChaosOptions, events?: Events): Promise<ChaosReport> {
  const { store: name, seed, leaseMs, sabotage, clients } = options;
  const medium = mediumOf(name);
  const place = await medium.prepare(options.url);
  const orders: ServerOrders = {
    ...{ store: name, location: place.location, leaseMs, seed, faults: true },
    ...(sabotage && { sabotage }),
    due: options.due,
  };
  const fleet = new Fleet(new URL('./server.ts', import.meta.url), orders);
  const size = { chunks: sabotage === 'fence' ? 40 : options.chunks, paceMs: 15 };
  const observations: Observation[] = [];
  const complaints: Violation[] = [];
  const underWay = new Set<TaskClient>();
  const ended: Promise<void>[] = [];
  let at = { store: name, location: place.location };
  let plans = 0;
  let begins = true;
  const lateness = Promise.withResolvers<void>();
  let permitted = Promise.withResolvers<void>();
  permitted.resolve();

  const worldOf = (random: () => number): World => ({
    wire: ({ agent }) => httpWire(`${pick(random, fleet.origins)}/${agent}/`, leaseMs * 3),
    sleep: (ms) => sleep(ms),
    random,
    permission: () => permitted.promise,
    lateness: () => lateness.promise,
    observe: (observation) => observations.push(observation),
    complain: (violation) => complaints.push(violation),
    serversClose: events !== undefined,
  });

  async function run(taskClient: TaskClient): Promise<void> {
    underWay.add(taskClient);
    try {
      await taskClient.run();
    } catch (error) {
      if (error instanceof Over) return;
      const { taskId = '', plan } = taskClient;
      complaints.push({ kind: 'lost', taskId, client: plan.name, message: String(error) });
    } finally {
      underWay.delete(taskClient);
      taskClient.report();
    }
  }

  async function client(): Promise<void> {
    while (begins) {
      const random = seeded(`${seed} task ${plans}`);
      const plan = randomPlan(random, `t${plans++}`, size);
      const over = run(new TaskClient(plan, worldOf(random)));
      if (plan.late) ended.push(over);
      else await over;
    }
  }

  try {
    await fleet.start(options.processes);
    let opened: TaskStore | undefined;
    const read = async () => {
      opened ??= await mediumOf(at.store).open(at.location);
      return readLogs(opened, scopes);
    };
    const stop = new AbortController();
    const end = performance.now() + options.forMs;
    const working = Promise.all(Array.from({ length: clients }, client));
    // A protection that is missing shows sooner or later: no need to go on then.
    const glancing = sabotage && glance();
    async function glance() {
      while (!stop.signal.aborted) {
        await sleep(leaseMs);
        const seen = [...observations];
        if (judge(await read(), seen, { settled: false }).length > 0) return stop.abort();
      }
    }
    const random = seeded(`${seed} killer`);
    const kill = (kills: number) =>
      killAtRandom(fleet, {
        kills,
        leaseMs,
        onlyStops: sabotage === 'fence',
        random,
        // What else happens takes time, in which tasks begin.
        tasks: () => (events ? Number.POSITIVE_INFINITY : plans),
        crash: place.crash,
        enough: () => performance.now() > end || stop.signal.aborted || (!!sabotage && complaints.length > 0),
      });
    const happened = await (events ? events(fleet, kill, place.location) : kill(options.kills));
    const { kills, storeKills, ...moved } = happened;
    at = { ...at, ...moved };
    stop.abort();
    await glancing;

    // Requests under way settle before new ones may be sent.
    begins = false;
    permitted = Promise.withResolvers();
    permitted.promise.catch(() => {});
    fleet.calm();
    const waiting = { leaseMs, sleep };
    for (const { taskId, head } of await stuckLogs(read, waiting))
      complaints.push({ kind: 'stuck', taskId, message: `it is ${head.state ?? 'no task'}` });

    // Then every client finishes what it began.
    permitted.resolve();
    lateness.resolve();
    const progress = async () => {
      const facts = (await read()).reduce((sum, log) => sum + log.facts.length, 0);
      return `${underWay.size} ${observations.length} ${facts}`;
    };
    await endsInTime(
      working.then(() => Promise.all(ended)),
      progress,
      waiting,
    );
    for (const { plan, taskId = '' } of underWay)
      complaints.push({ kind: 'stuck', taskId, client: plan.name, message: 'its client still waits' });
    for (let n = 0; n < fleet.crashes; n++)
      complaints.push({ kind: 'lost', taskId: '', message: 'a process ended by itself' });
    for (let n = 0; n < fleet.unclosed; n++)
      complaints.push({ kind: 'stuck', taskId: '', message: 'a process did not close' });
    const logs = await read();
    await opened?.close();
    const violations = [...complaints, ...judge(logs, observations, { settled: false })];
    const server = place.crash && { storeKills };
    return { kills, ...server, tasks: logs.length, counts: countByKind(violations), violations, logs };
  } finally {
    permitted.reject(new Over());
    await fleet.close();
    await place.remove();
  }
}
