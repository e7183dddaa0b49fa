/** Questions with forms. */
export { FORM_INPUT } from '@batonjs/protocol/forms';
export { TASK_TREE } from '@batonjs/protocol/headers';

/** Skills with schemas for their input and output. */
export const TYPED_SKILLS = 'https://batonjs.dev/extensions/typed-skills/v1';
/** The progress of a task. */
export const TASK_PROGRESS = 'https://batonjs.dev/extensions/task-progress/v1';
/** The reason why a task failed, in a form that programs can read. */
export const TASK_ERROR = 'https://batonjs.dev/extensions/task-error/v1';
/** When a message is to be worked on. */
/** The labels of tasks, and lists by them. */
/** The changes of a task's state. */
/** How often a task has changed, as A2A 1.1 plans it. */
/** What models used for a task. */
export { GENERATION, LABELS, SCHEDULING, STATE_HISTORY, USAGE } from '@batonjs/protocol/headers';
