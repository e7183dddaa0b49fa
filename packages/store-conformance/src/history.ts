export { checkHistory, type History } from './history/check-history.ts';
export { type KeptLog, readLog } from './history/kept-log.ts';
export type { Observation, SeenEvent, Stream } from './history/observation.ts';
export type { Violation, ViolationKind } from './history/violation.ts';
