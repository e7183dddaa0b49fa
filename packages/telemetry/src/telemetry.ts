import type { TaskState } from '@batonjs/protocol';
import type { Telemetry } from '@batonjs/server/adapter';
import { type MeterProvider, type TracerProvider, trace } from '@opentelemetry/api';
import { WebhookSpan } from './delivery-span.ts';
import { instrumentsOf } from './metrics.ts';
import { attributes as names, scope } from './names.ts';
import { ServerRequestSpan } from './request-span.ts';
import { activeIds } from './trace-context.ts';
import { AttemptSpan } from './turn-span.ts';

/** Options of `telemetry` and `clientTelemetry`. */
export interface TelemetryOptions {
  /** Makes the tracer. Default: the provider that is registered globally. */
  readonly tracerProvider?: TracerProvider;
  /** Makes the meter. Default: the provider that is registered globally. */
  readonly meterProvider?: MeterProvider;
}

/**
 * Passes what a server or worker does to OpenTelemetry: a span for each request, attempt of a turn, step and delivery
 * to a webhook, and metrics. Pass it as `telemetry` to `createAgentServer` or `createWorker`. It records ids, states and
 * times, and never content, metadata, credentials, URLs of webhooks or texts of errors. Without an SDK of OpenTelemetry
 * it has no effect.
 */
export function telemetry({ tracerProvider, meterProvider }: TelemetryOptions = {}): Telemetry {
  const tracer = (tracerProvider ?? trace).getTracer(scope);
  const instruments = instrumentsOf(meterProvider);
  return {
    request: (start) => new ServerRequestSpan(start, tracer, instruments),
    turn: (start) => new AttemptSpan(start, tracer, instruments),
    delivery: (start) => new WebhookSpan(start, tracer, instruments),
    active: activeIds,
    gaveUp: () => instruments().deliveries.add(1, { [names.outcome]: 'given_up' }),
    transition(from, to) {
      const [before, after] = [isOpen(from), isOpen(to)];
      if (before !== after) instruments().activeTasks.add(after ? 1 : -1);
    },
    turnEvent(type) {
      if (type === 'taken-over') instruments().recoveredTurns.add(1);
      if (type === 'lost') instruments().lostLeases.add(1);
    },
  };
}

const terminal: readonly TaskState[] = [
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
];

const isOpen = (state: string | undefined): boolean =>
  state !== undefined && !terminal.includes(state as TaskState);
