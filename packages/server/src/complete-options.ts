import { consoleLog, type Log } from './hooks/log-hook.ts';
import { defaultLimits, type RunSettings } from './limits/limits.ts';
import type { WorkerOptions } from './options.ts';
import { boundedStore } from './store/bounded-store.ts';
import { systemClock } from './timing/clock.ts';
import { logTurnEvent, type TurnEvent } from './turns/turn-event.ts';

/** The options with everything left out filled in. Throws `TypeError` for values that cannot work. */
export function completeSettings(options: WorkerOptions, run: 'here' | 'workers'): RunSettings {
  const { agent, store, name = 'agent', leaseMs = 10_000, maxAttempts = 3, lookEveryMs = 1_000 } = options;
  if (typeof agent !== 'function') throw new TypeError('`agent` must be a function');
  if (typeof store?.commit !== 'function')
    throw new TypeError('`store` must be a task store, such as memoryStore()');
  mustBePositive({ leaseMs, maxAttempts, lookEveryMs });
  const log = guarded(options.log ?? consoleLog);
  const { storeTimeoutMs = 5_000 } = options;
  const clock = { ...systemClock, ...options.clock };
  return {
    agent,
    store: boundedStore(store, storeTimeoutMs, clock),
    queue: name,
    run,
    restart: options.restart ?? 'fail',
    maxAttempts,
    confirmSteps: options.confirmSteps ?? options.restart === 'rerun',
    leaseMs,
    pollMs: Math.min(1_000, leaseMs / 3),
    cancelGraceMs: options.cancelGraceMs ?? 5_000,
    onCancel: options.onCancel,
    clocks: options.clocks ?? {},
    limits: { ...defaultLimits, ...options.limits },
    storeTimeoutMs,
    lookEveryMs,
    currentStatusInHistory: options.currentStatusInHistory ?? false,
    log,
    onTransition: hook('transition', options.onTransition, log),
    onTurn: reporting(options.onTurn, log),
    clock,
  };
}

function mustBePositive(values: Record<string, number>): void {
  for (const [name, value] of Object.entries(values)) {
    if (!(value > 0)) throw new TypeError(`\`${name}\` must be more than 0`);
  }
}

/** The server says `error`. Of an `Error` under that name, pino and its like would write `{}`. */
function withErr(details: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!('error' in details)) return details;
  const { error: err, ...rest } = details;
  return { ...rest, err };
}

/** A hook that throws must not take a task with it. */
function guarded(log: Log): Log {
  return (level, message, details) => {
    try {
      log(level, message, withErr(details));
    } catch (error) {
      try {
        consoleLog('error', 'The log hook failed', { err: error });
      } catch {
        // Nor can what it threw be printed.
        consoleLog('error', 'The log hook failed', { at: message });
      }
    }
  };
}

function hook<Event>(
  name: string,
  listener: ((event: Event) => void) | undefined,
  log: Log,
): (event: Event) => void {
  return (event) => {
    try {
      listener?.(event);
    } catch (error) {
      log('error', `The ${name} hook failed`, { error });
    }
  };
}

function reporting(listener: WorkerOptions['onTurn'], log: Log): (event: TurnEvent) => void {
  const tell = hook('turn', listener, log);
  return (event) => {
    logTurnEvent(log, event);
    tell(event);
  };
}
