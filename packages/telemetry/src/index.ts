export { clientTelemetry } from './client-telemetry.ts';
export { type MetricsHandler, type MetricsHandlerOptions, metricsHandler } from './metrics/handler.ts';
export { type TelemetryOptions, telemetry } from './telemetry.ts';
export { withTrace } from './with-trace.ts';
