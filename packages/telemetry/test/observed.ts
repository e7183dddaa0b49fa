import { context, propagation } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { onTestFinished } from 'vitest';
import { eventually } from '../../../test/kit/until.ts';

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
propagation.setGlobalPropagator(new W3CTraceContextPropagator());

/** A value of a metric, with what it is about. */
export interface Measured {
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The sum; of a histogram, how many values there are. */
  readonly value: number;
}

/** An SDK that keeps spans and metrics in memory until the test ends. */
export function observed() {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({
    exporter: measured,
    exportIntervalMillis: 3_600_000,
    exportTimeoutMillis: 60_000,
  });
  const meterProvider = new MeterProvider({ readers: [reader] });
  onTestFinished(async () => {
    await meterProvider.shutdown();
    await tracerProvider.shutdown();
  });
  const spans = (name?: string) =>
    exporter.getFinishedSpans().filter((span) => name === undefined || span.name === name);
  return {
    providers: { tracerProvider, meterProvider },
    tracer: tracerProvider.getTracer('test'),
    spans,
    /** Waits until so many spans of a name have ended. */
    async ended(name: string, count = 1) {
      await eventually(() => {
        if (spans(name).length < count) throw new Error(`${spans(name).length} of ${count} ${name}`);
      });
      return spans(name);
    },
    /** What was measured so far. */
    async metrics(): Promise<Measured[]> {
      measured.reset();
      await reader.forceFlush();
      return measured
        .getMetrics()
        .flatMap(({ scopeMetrics }) => scopeMetrics)
        .flatMap(({ metrics }) => metrics)
        .flatMap(({ descriptor, dataPoints }) =>
          dataPoints.map(({ attributes, value }) => ({
            name: descriptor.name,
            attributes,
            value: typeof value === 'number' ? value : (value as { count: number }).count,
          })),
        );
    },
  };
}
