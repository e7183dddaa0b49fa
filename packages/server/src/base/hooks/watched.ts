import type { Telemetry } from './telemetry.ts';

/** Registered, because each entry of this package is a file of its own: a variable would exist once per entry. */
const watched = Symbol.for('@batonjs/server/telemetry');

/** Remembers the telemetry of a server or worker for {@link telemetryOf}. */
export const keepWatched = <Process extends object>(
  process: Process,
  telemetry: Telemetry | undefined,
): Process => (telemetry ? Object.defineProperty(process, watched, { value: telemetry }) : process);

/** The telemetry that a server or worker was given; undefined without any. */
export const telemetryOf = (process: object): Telemetry | undefined =>
  (process as { [watched]?: Telemetry })[watched];
