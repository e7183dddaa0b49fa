import { guardHook, guardLog } from './hooks/call-hook.ts';
import { consoleLog, toLog } from './hooks/log-hook.ts';
import { defaultLimits } from './limits/limits.ts';
import type { WorkerOptions } from './options.ts';
import { boundedStore } from './store/bounded-store.ts';
import { systemClock } from './timing/clock.ts';
import { completeSchedule } from './timing/schedule.ts';
import type { TurnDependencies } from './turns/turn-dependencies.ts';
import { logTurnEvent } from './turns/turn-event.ts';

/**
 * The dependencies of a server, or of a worker if `run` is undefined, from its options. Throws `TypeError` for options
 * that cannot work.
 */
export function turnDependencies(given: WorkerOptions, run?: 'here' | 'workers'): TurnDependencies {
  const { agent, store, leaseMs = 10_000, maxAttempts = 3, storeTimeoutMs = 5_000 } = given;
  if (typeof agent !== 'function') throw new TypeError('`agent` must be a function');
  if (typeof store?.commit !== 'function')
    throw new TypeError('`store` must be a task store, such as memoryStore()');
  mustBePositive({ leaseMs, maxAttempts });
  const log = guardLog(toLog(given.log ?? consoleLog), given.telemetry);
  const clock = { ...systemClock, ...given.clock };
  const onTurn = guardHook('turn', given.onTurn, log);
  const onTransition = guardHook('transition', given.onTransition, log);
  const { telemetry } = given;
  return {
    agent,
    store: boundedStore(store, storeTimeoutMs, clock),
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
      queue: given.name ?? 'agent',
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
