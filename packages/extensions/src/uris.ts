/** Skills with schemas for what they take and give. */
export const TYPED_SKILLS = 'https://batonjs.dev/extensions/typed-skills/v1';
/** Questions that are forms. */
export const FORM_INPUT = 'https://batonjs.dev/extensions/form-input/v1';
/** How far a task is. */
export const TASK_PROGRESS = 'https://batonjs.dev/extensions/task-progress/v1';
/** Why a task failed, for programs. */
export const TASK_ERROR = 'https://batonjs.dev/extensions/task-error/v1';
