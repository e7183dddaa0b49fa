import { guardHook, guardLog } from './hooks/call-hook.ts';
import { consoleLog, toLog } from './hooks/log-hook.ts';
import { detached } from './hooks/telemetry.ts';
import { defaultLimits } from './limits/limits.ts';
import type { AgentServerOptions, WorkerOptions } from './options.ts';
import { boundedStore } from './store/bounded-store.ts';
import { QueueOwners } from './store/queue-owners.ts';
import { StoreOutage } from './store/store-outage.ts';
import { systemClock } from './timing/clock.ts';
import { completeSchedule } from './timing/schedule.ts';
import type { TurnDependencies } from './turns/turn-dependencies.ts';
import { logTurnEvent } from './turns/turn-event.ts';
import { unknownOptions } from './unknown-options.ts';

/**
 * The dependencies of a server, or of a worker if `run` is undefined, from its options. Throws `TypeError` for options
 * that cannot work.
 */
export function turnDependencies(given: WorkerOptions, run?: 'here' | 'workers'): TurnDependencies {
  const { agent, store, leaseMs = 10_000, maxAttempts = 3, storeTimeoutMs = 5_000 } = given;
  const log = guardLog(toLog(given.log ?? consoleLog), given.telemetry);
  // First, and no error: the option may be missed below, and programs share options between servers and other functions.
  for (const line of unknownOptions(given)) log('warn', line, {});
  if (typeof agent !== 'function') throw new TypeError('`agent` must be a function');
  if (typeof store?.commit !== 'function')
    throw new TypeError('`store` must be a task store, such as memoryStore()');
  mustBePositive({ leaseMs, maxAttempts });
  const clock = { ...systemClock, ...given.clock };
  const onTurn = guardHook('turn', given.onTurn, log);
  const onTransition = guardHook('transition', given.onTransition, log);
  const { telemetry } = given;
  const queue = given.name ?? 'agent';
  const outage = new StoreOutage({
    clock,
    // An outage belongs to no request, although one may be the first to notice it.
    log: (...line) => detached(given.telemetry, () => log(...line)),
    queue,
    probe: () => (bounded.probe ? bounded.probe() : bounded.ping()),
  });
  const bounded = boundedStore(store, storeTimeoutMs, clock, outage);
  const { card, publicUrl } = given as Partial<AgentServerOptions>;
  const user = { queue, card: card?.name, url: publicUrl, shares: given.sharesQueue ?? false };
  const owners = new QueueOwners(user, { store: bounded, clock, log });
  return {
    agent,
    store: owners.guard(bounded),
    owners,
    report: (message, details) => outage.report(message, details),
    clock,
    log,
    onCancel: given.onCancel,
    onTransition: telemetry
      ? (transition) => {
          telemetry.transition(transition.from, transition.to);
          onTransition(transition);
        }
      : onTransition,
    onTurn(event) {
      logTurnEvent(log, event);
      telemetry?.turnEvent(event.type);
      onTurn(event);
    },
    telemetry,
    options: {
      queue,
      run: run ?? 'here',
      isWorker: run === undefined,
      restart: given.restart ?? 'fail',
      maxAttempts,
      confirmSteps: given.confirmSteps ?? given.restart === 'rerun',
      leaseMs,
      pollMs: Math.min(1_000, leaseMs / 3),
      cancelGraceMs: given.cancelGraceMs ?? 5_000,
      storeTimeoutMs,
      schedule: completeSchedule(given.schedule, store),
      clocks: given.clocks ?? {},
      limits: { ...defaultLimits, ...given.limits },
      currentStatusInHistory: given.currentStatusInHistory ?? false,
    },
  };
}

/** Throws `TypeError`, naming the option, unless all values are more than 0. */
export function mustBePositive(values: Record<string, number>): void {
  for (const [name, value] of Object.entries(values)) {
    if (!(value > 0)) throw new TypeError(`\`${name}\` must be more than 0`);
  }
}
