import type { TaskState } from '@batonjs/protocol';
import type { Telemetry } from '@batonjs/server/adapter';
import { type MeterProvider, ROOT_CONTEXT, type TracerProvider, trace } from '@opentelemetry/api';
import { WebhookSpan } from './delivery-span.ts';
import { instrumentsOf } from './metrics.ts';
import { attributes as names, scope } from './names.ts';
import { ServerRequestSpan } from './request-span.ts';
import { activeIds, runIn } from './trace-context.ts';
import { AttemptSpan } from './turn-span.ts';

/** Options of `telemetry`. */
export interface TelemetryOptions {
  /** Makes the tracer. Default: the provider that is registered globally. */
  readonly tracerProvider?: TracerProvider;
  /** Makes the meter. Default: the provider that is registered globally. */
  readonly meterProvider?: MeterProvider;
  /**
   * Whether spans of requests name the network address of the client, which is personal data. Behind a proxy it is that of
   * the proxy, unless the framework was told to trust it. Default false.
   */
  readonly clientAddress?: boolean;
}

/**
 * Passes what a server or worker does to OpenTelemetry: a span for each request, attempt of a turn, step and delivery
 * to a webhook, and metrics. Pass it as `telemetry` to `createAgentServer` or `createWorker`. It records ids, states and
 * times, and never content, metadata, credentials, URLs of webhooks or texts of errors. Without an SDK of OpenTelemetry
 * it has no effect.
 */
export function telemetry({
  tracerProvider,
  meterProvider,
  clientAddress = false,
}: TelemetryOptions = {}): Telemetry {
  const tracer = (tracerProvider ?? trace).getTracer(scope);
  const instruments = instrumentsOf(meterProvider);
  return {
    request: (start) => new ServerRequestSpan(start, tracer, instruments, clientAddress),
    turn: (start) => new AttemptSpan(start, tracer, instruments),
    delivery: (start) => new WebhookSpan(start, tracer, instruments),
    active: activeIds,
    detached: (fn) => runIn(ROOT_CONTEXT, fn),
    gaveUp: () => instruments().deliveries.add(1, { [names.outcome]: 'given_up' }),
    transition(from, to) {
      if (from === undefined) instruments().createdTasks.add(1);
      if (terminal.includes(to)) instruments().endedTasks.add(1, { [names.taskState]: to });
    },
    turnEvent(type) {
      if (type === 'taken-over') instruments().recoveredTurns.add(1);
      if (type === 'failed') instruments().failedAttempts.add(1);
      if (type === 'lost') instruments().lostLeases.add(1);
    },
  };
}

const terminal: readonly string[] = [
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
] satisfies TaskState[];
