export { FORM_TYPE, type Form } from '@batonjs/protocol/forms';
export { formOf } from './form-input/form-of.ts';
export { inGenerationOrder } from './generation/in-generation-order.ts';
export { type Schedule, scheduled } from './scheduling/scheduled.ts';
export type { Issue } from './schema.ts';
export { type StateTransition, transitionsOf } from './state-history/transitions-of.ts';
export { errorOf } from './task-error/failure-in.ts';
export { labelsOf } from './task-labels/labels-of.ts';
export { type Progress, progressOf } from './task-progress/progress-of.ts';
export { type ChildTask, type TaskTree, treeOf } from './task-tree/tree-of.ts';
export { callSkill, SkillError, type SkillProblem, type SkillReply } from './typed-skills/call-skill.ts';
export {
  FORM_INPUT,
  GENERATION,
  LABELS,
  SCHEDULING,
  STATE_HISTORY,
  TASK_ERROR,
  TASK_PROGRESS,
  TASK_TREE,
  TYPED_SKILLS,
} from './uris.ts';
