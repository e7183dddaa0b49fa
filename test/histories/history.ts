export { checkHistory, type History } from './check-history.ts';
export {
  type KeptLog,
  type Observation,
  readLog,
  type SeenEvent,
  type Stream,
  type Violation,
  type ViolationKind,
} from './observation.ts';
