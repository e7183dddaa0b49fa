export { FORM_TYPE, type Form } from '@batonjs/protocol/forms';
export { scheduling, stateHistory, taskLabels, taskTree, taskUsage } from './declared.ts';
export { type Extendable, type Extension, extend } from './extension.ts';
export { type FormQuestion, formInput, inputRequired } from './form-input/form-input.ts';
export type { Issue } from './schema.ts';
export { taskError } from './task-error/task-error.ts';
export { progress, taskProgress } from './task-progress/task-progress.ts';
export * from './typed-skills/typed-skills.ts';
export {
  FORM_INPUT,
  LABELS,
  SCHEDULING,
  STATE_HISTORY,
  TASK_ERROR,
  TASK_PROGRESS,
  TASK_TREE,
  TYPED_SKILLS,
  USAGE,
} from './uris.ts';
