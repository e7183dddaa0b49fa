export { noTask } from './adapter/known/known-tasks.ts';
export { checkLog } from './check-log.ts';
export type { RowPage, StoredTask, Transfer } from './port/rows.ts';
export { takenFrom } from './rules/bucket.ts';
export {
  changeOf,
  forgottenTurns,
  guessed,
  isIdle,
  type QueueCounts,
  type WaitingCaller,
  type WantedTask,
} from './rules/change.ts';
export { claimed } from './rules/claim.ts';
export { admit, factsInOrder, granted } from './rules/commit.ts';
export {
  isListed,
  isListedAlike,
  type ListPlace,
  listPlace,
  listSearch,
  newestFirst,
  statesOf,
  termsOf,
} from './rules/list.ts';
export { deletionOf, deletionsOf, isOfDeletion, remembered } from './rules/prune.ts';
export {
  askingStates,
  byName,
  contextOf,
  countedAs,
  isAsking,
  isPostponed,
  plainQueue,
  postponed,
  readyBetween,
  stateOf,
  type TurnPlace,
} from './rules/task-row.ts';
