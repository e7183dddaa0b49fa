// For the other packages of Baton. It may change in every release.
export type { ForkFrom } from './fork/fork.ts';
export { type ForkedLog, forkLog } from './fork/fork-log.ts';
export { agrees } from './head.ts';
export type { OnlyBy, Question } from './kept/question-link.ts';
export { failureCodeOf, isLabel } from './labels.ts';
export { answererOf, answerPrefix, reservedFor } from './state.ts';
export { transitions } from './states.ts';
export { recordedIn } from './task-update.ts';
export { weigh } from './values/weigh.ts';
