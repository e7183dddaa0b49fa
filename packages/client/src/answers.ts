export * from './answers/answer-parts.ts';
export { contentOf, taskContent, withMade } from './answers/task-content.ts';
export * from './answers/thread.ts';
export { toRequest } from './conversation/message-input.ts';
