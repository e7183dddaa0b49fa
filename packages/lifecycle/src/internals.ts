// For the other packages of Baton. It may change in every release.

export { textOfFirst } from './facts/conversation.ts';
export { failureCodeOf, isLabel } from './facts/labels.ts';
export { transitions } from './facts/states.ts';
export { recordedIn } from './facts/task-update.ts';
export { isOfAgent, whenFull } from './facts/traits.ts';
export { type ForkFrom, forkLog } from './fork/fork-log.ts';
export { agrees } from './state/head.ts';
export { SNAPSHOT_FORMAT } from './state/snapshot.ts';
export { answererOf, answerPrefix, isMessageDue, reservedFor } from './state/state.ts';
export { frozenJson } from './values/frozen-json.ts';
export { weigh } from './values/weigh.ts';
