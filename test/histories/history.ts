export { checkHistory } from './check-history.ts';
export {
  type KeptLog,
  type Observation,
  readLog,
  type SeenEvent,
  type Violation,
  type ViolationKind,
} from './observation.ts';
