export { type MetricsHandler, type MetricsHandlerOptions, metricsHandler } from './metrics/handler.ts';
export { clientTelemetry, type TelemetryOptions, telemetry } from './telemetry.ts';
export { withTrace } from './with-trace.ts';
