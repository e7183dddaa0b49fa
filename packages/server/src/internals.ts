/** For packages that read the tasks of a server from its store, such as the task gateway. May change in any release. */
export { type Inside, insideOf } from './base/store/inside-of.ts';
export { derivedTaskId } from './operations/accept/derived-task-id.ts';
export { scopeOf } from './operations/call/call-context.ts';
export { wakeKeyOf } from './turns/order/wake-key.ts';
