import { isLabel } from '@batonjs/lifecycle/internals';
import { guardHook } from '@batonjs/protocol/hooks';
import { withDefaults } from '@batonjs/protocol/options';
import type { TaskName } from '@batonjs/store';
import { extensionsOf } from './agent/agent.ts';
import { messageOptions } from './agent/caller.ts';
import { guardTelemetry } from './base/hooks/guard-telemetry.ts';
import { consoleLogger, guardLogger, type ReportFailure, toLogger } from './base/hooks/logger.ts';
import { detached, type ObservedProcess } from './base/hooks/telemetry.ts';
import { completeLimits } from './base/limits.ts';
import { digestsOf, type Peer, peersFor } from './base/store/peers.ts';
import { queueOwners } from './base/store/records.ts';
import { Retention, rulesOf } from './base/store/retention.ts';
import { boundedStore, StoreOutage } from './base/store/store-outage.ts';
import { timedStore } from './base/store/timed-store.ts';
import { createReadiness, pinnedVersions, type Versions } from './base/store/versions.ts';
import { processName } from './base/system/new-id.ts';
import { completeTimeouts } from './base/timeouts.ts';
import { systemClock } from './base/timing/clock.ts';
import { endedRuns } from './log/ended/ended-runs.ts';
import { LiveTasks } from './log/live-tasks.ts';
import {
  type AgentServerOptions,
  restartOf,
  spokenVersions,
  unknownServerOptions,
  type VersionOptions,
  versionOf,
  type WorkerOptions,
} from './options.ts';
import { claimerOf } from './turns/claim/claimer.ts';
import { FileSweep } from './turns/files/file-sweep.ts';
import { ServerFiles } from './turns/files/server-files.ts';
import { completeSchedule } from './turns/order/schedule.ts';
import { completeCallbacks } from './turns/outside/callback-options.ts';
import { completeRetry, guardRetry } from './turns/retries/retry-policy.ts';
import { runnerOf } from './turns/runner.ts';
import { mustFitRuns, type RunLimit } from './turns/steps/run-limit.ts';
import { eventHook, type TurnDependencies } from './turns/turn-dependencies.ts';
import { delivererOf } from './webhooks/deliverer.ts';
import { createWebhooks, pushOptions, sharedPushOptions, type Webhooks } from './webhooks/webhooks.ts';

export type Runtime = ReturnType<typeof createRuntime>;

type Run = AgentServerOptions['run'];

/** The runtime of a bounded run. An attempt at a webhook that began in time is over in time, so that it counts. */
export function createRun({ card: _, ...options }: AgentServerOptions, limit: RunLimit, delivers: boolean) {
  const timeoutMs = Math.min({ ...pushOptions, ...options.push }.timeoutMs, limit.forMs / 2);
  const push = delivers && options.push !== false && { ...options.push, timeoutMs };
  return createRuntime({ ...options, push }, 'due', limit);
}

/**
 * Makes the common part of a server and a worker: live tasks, turns and deliveries to webhooks, not started yet. It is
 * for a worker if `run` is undefined; `limit`: of a bounded run. Throws `TypeError` for options that cannot work.
 */
export function createRuntime(options: WorkerOptions, run?: Run, limit?: RunLimit) {
  if (run === 'due') mustFitRuns(options);
  const dependencies: TurnDependencies = { ...turnDependencies(options, run), limit };
  const { store, clock, logger, report } = dependencies;
  const { timeouts, compatibility } = dependencies.options;
  const retention = options.retention && new Retention(dependencies, options.retention);
  const keptLonger = rulesOf(options.retention);
  const tasks = new LiveTasks({ store, clock, logger, report, timeouts, keptLonger });
  const runner = runnerOf(dependencies, tasks);
  const claimer = claimerOf(dependencies, tasks, runner);
  const webhooks = createWebhooks(store, options.push, compatibility);
  // A server without a process tells the others nothing: a run of it hears of them.
  const peers =
    store.isPrivate || (run === 'due' && !limit)
      ? undefined
      : peersFor(dependencies.options.queue, peerOf(options, dependencies, webhooks), dependencies);
  const push = webhooks && { ...webhooks, peers };
  const deliverer = push && delivererOf({ ...dependencies, push });
  const { owners, versions, telemetry } = dependencies;
  const { files } = dependencies.options;
  const sweep = files && new FileSweep(files.options, dependencies);
  const rounds = [retention, sweep].filter((one) => one !== undefined);
  let isOpen = true;
  let stopped = () => {};
  const sources = { store, clock, isOpen: () => isOpen, owners, versions, peers };
  const readiness = createReadiness(sources, files?.reach);
  return {
    dependencies,
    tasks,
    runner,
    claimer,
    /** Undefined if nothing is delivered to webhooks. */
    push,
    /** Those that delete from time to time. */
    rounds,
    readiness,
    /**
     * Claims tasks, unless `run` is `workers`, and deliveries. In a bounded run, resolves once nothing is left to claim;
     * `only`: claims this task alone.
     */
    start(only?: TaskName): Promise<void> | undefined {
      if (run === 'due' && !limit) return undefined;
      if (telemetry?.started && !limit)
        stopped = guardHook(
          'telemetry',
          telemetry.started(observed(dependencies, { runner, tasks, readiness })),
        );
      if (!limit) peers?.start();
      tasks.start();
      if (only) return claimer.claimNow(only.scope, only.taskId);
      const claiming = run === 'workers' ? undefined : claimer.start();
      deliverer?.start();
      if (!limit) for (const one of rounds) one.start();
      return claiming;
    },
    /**
     * Claims nothing more, gives running turns and deliveries up to `graceMs` milliseconds, ends the other turns as
     * `restart` says, and ends all streams.
     */
    async close(graceMs: number): Promise<void> {
      isOpen = false;
      const deadline = clock.monotonic() + graceMs;
      // At once: a drain waits for turns that are being claimed, and none of this needs to wait for the rest.
      await Promise.all([
        claimer.close(),
        ...rounds.map((one) => one.close()),
        peers?.close(),
        runner.drain(graceMs),
      ]);
      // Only now: streams and waits on a turn that was given time to finish get its last event.
      tasks.close();
      await dependencies.runs.close();
      await deliverer?.close(Math.max(0, deadline - clock.monotonic()));
      stopped();
    },
  };
}

/** What this process tells the others of its queue. */
function peerOf(
  { retention }: WorkerOptions,
  { agent, options }: TurnDependencies,
  push: Webhooks | undefined,
): Peer {
  const { isWorker, version, schedule, timeouts, limits } = options;
  const { taskMs, inactivityMs, interruptedMs } = timeouts;
  const role = isWorker ? 'worker' : 'server';
  const { closedAfterMs, rules = [] } = retention ?? {};
  // These two are of one process.
  const { turns, followersPerTask, ...ofTasks } = limits;
  const shared = {
    retention: retention && { closedAfterMs, rules },
    queue: schedule,
    timeouts: { taskMs, inactivityMs, interruptedMs },
    ...Object.fromEntries(Object.entries(ofTasks).map(([name, value]) => [`limits.${name}`, value])),
    extensions: extensionsOf(agent),
    // A worker that delivers nothing takes no webhook away.
    ...(!isWorker && { push: push !== undefined }),
    ...(push && sharedPushOptions(push)),
  };
  const name = [role, processName(), version && `of version ${version}`].filter(Boolean).join(' ');
  return { name, options: digestsOf(shared), push: push?.reach };
}

/** What telemetry may ask of this process. */
const observed = (
  { store, versions, options: { queue, version, run, limits } }: TurnDependencies,
  { runner, tasks, readiness }: Pick<Runtime, 'runner' | 'tasks' | 'readiness'>,
): ObservedProcess => ({
  queue,
  version,
  turnLimit: run === 'workers' ? 0 : limits.turns,
  load: () => ({ turns: runner.running, tasks: tasks.size }),
  measure: async () => (store.measure ? store.measure(queue) : { waiting: await store.waiting(queue) }),
  async unserved() {
    const unserved = await versions?.unserved();
    const tasks = unserved?.reduce((sum, { tasks }) => sum + tasks.length, 0) ?? 0;
    return unserved && { versions: unserved.length, tasks };
  },
  readiness,
});

/**
 * The dependencies of a server, or of a worker if `run` is undefined, from its options. Throws `TypeError` for options
 * that cannot work.
 */
export function turnDependencies(given: WorkerOptions, run?: Run): TurnDependencies {
  const { agent, store } = given;
  const plainLogger = toLogger(given.logger ?? consoleLogger);
  const telemetry = given.telemetry && guardTelemetry(given.telemetry, guardLogger(plainLogger));
  const logger = guardLogger(plainLogger, telemetry);
  // First, and no error: the option may be missed below, and programs share options between servers and other functions.
  for (const line of unknownServerOptions(given)) logger('warn', line, {});
  if (typeof agent !== 'function') throw new TypeError('`agent` must be a function');
  if (typeof store?.commit !== 'function')
    throw new TypeError('`store` must be a task store, such as memoryStore()');
  const timeouts = completeTimeouts(given.timeouts);
  const { leaseMs, storeMs } = timeouts;
  const version = versionOf(given);
  const clock = { ...systemClock, ...given.clock };
  const queue = given.name ?? 'agent';
  const outage = new StoreOutage({
    clock,
    // An outage belongs to no request, although one may be the first to notice it.
    logger: (...line) => detached(telemetry, () => logger(...line)),
    queue,
    probe: () => (bounded.probe ? bounded.probe() : bounded.ping()),
  });
  const inTime = boundedStore(store, storeMs, clock, outage);
  const bounded = given.telemetry?.stored ? timedStore(inTime, telemetry!.stored!) : inTime;
  const { card, publicUrl } = given as Partial<AgentServerOptions>;
  const user = { queue, card: card?.name, url: publicUrl };
  const owners = queueOwners(user, { store: bounded, clock, logger });
  const guarded = owners.guard(bounded);
  const source = { store: guarded, clock, logger };
  const versions = versionsFor({ ...version, queue: given.queue }, queue, source);
  const report: ReportFailure = (message, details) => outage.report(message, details);
  const runs = endedRuns(queue, { ...source, report });
  return {
    agent,
    store: versions ? versions.guard(guarded) : guarded,
    owners,
    versions,
    report,
    clock,
    logger,
    onCancel: given.onCancel,
    onEvent: eventHook(given.onEvent, telemetry, logger, runs),
    runs,
    telemetry,
    options: {
      queue,
      run: run ?? 'here',
      isWorker: run === undefined,
      ...restartOf(given),
      ...spokenVersions(given),
      version: version.name,
      pinnedTo: versions && version.name,
      pollMs: Math.min(1_000, leaseMs / 3),
      schedule: completeSchedule(given.queue, store),
      timeouts,
      retry: guardRetry(completeRetry(given.retry), logger),
      limits: completeLimits(given.limits),
      messages: withDefaults(messageOptions, given.messages),
      callbacks: completeCallbacks(given.callbacks ?? false, { publicUrl, store, clock }),
      files: given.files && new ServerFiles(given.files, { publicUrl, queue, store, clock, fetchFile }),
    },
  };
}

const fetchFile = () => import('./webhooks/address-policy/fetch-file.ts');

/** Undefined if turns are pinned to no version. Throws `TypeError` for options that cannot work. */
function versionsFor(
  { name: version, deploys = 'any', queue: schedule }: Partial<VersionOptions> & Pick<WorkerOptions, 'queue'>,
  queue: string,
  source: Parameters<typeof pinnedVersions>[1],
): Versions | undefined {
  if (version !== undefined && !isLabel(version))
    throw new TypeError('`version` must be a text of 1 to 64 characters');
  if (deploys === 'any') return undefined;
  if (deploys !== 'pinned' && typeof deploys !== 'function')
    throw new TypeError("`version.deploys` must be 'any', 'pinned' or a function");
  if (version === undefined) throw new TypeError('`version.deploys` needs `version.name`');
  if (schedule)
    throw new TypeError('`version.deploys` cannot be used with `queue`: pinned turns are not counted');
  if (!source.store.pinned) throw new TypeError('`version.deploys` needs a store with `pinned`');
  return pinnedVersions({ queue, version, deploys }, source);
}
