import { clientTelemetry, telemetry } from '@batonjs/telemetry';
import { context, propagation } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';

/** How often metrics are sent, in milliseconds. */
const metricsEveryMs = 10_000;

/**
 * Sends spans and metrics to an OTLP receiver over HTTP, such as `http://127.0.0.1:4318`. The exporters also read the
 * other `OTEL_EXPORTER_OTLP_…` variables, such as the headers.
 */
export function startTelemetry(endpoint: string) {
  const url = (signal: string) => `${endpoint.replace(/(?<!\/)\/+$/, '')}/v1/${signal}`;
  const resource = resourceFromAttributes({ 'service.name': 'baton-gallery' });
  const tracerProvider = new TracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: url('traces') }) })],
  });
  const meterProvider = new MeterProvider({
    resource,
    readers: [
      new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter({ url: url('metrics') }),
        exportIntervalMillis: metricsEveryMs,
        exportTimeoutMillis: metricsEveryMs,
      }),
    ],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  return {
    server: telemetry({ tracerProvider, meterProvider }),
    client: clientTelemetry({ tracerProvider }),
    /** Sends what was not sent yet. Does not reject if the receiver is gone. */
    async close(): Promise<void> {
      await Promise.allSettled([tracerProvider.shutdown(), meterProvider.shutdown()]);
      context.disable();
      propagation.disable();
    },
  };
}
