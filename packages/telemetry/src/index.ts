export { clientTelemetry } from './client-telemetry.ts';
export { type TelemetryOptions, telemetry } from './telemetry.ts';
export { withTrace } from './with-trace.ts';
