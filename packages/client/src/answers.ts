export {
  type AnswerPart,
  type AnswerStart,
  answerParts,
  answerSteps,
  begun,
  lengthsOf,
  type ShownToolCall,
  untilAtRest,
} from './answers/answer-parts.ts';
export { contentOf, taskContent, withMade } from './answers/task-content.ts';
export {
  type AwaitedToolCall,
  awaitedCalls,
  cancelOpenTask,
  isSameContent,
  latestNote,
  latestVersion,
  openTask,
  type PastAnswer,
  pastAnswers,
  placeIn,
  replacedIn,
  tasksOf,
} from './answers/thread.ts';
export { toRequest } from './conversation/message-input.ts';
