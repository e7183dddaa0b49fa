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
export {
  type AnswerNote,
  type AwaitedToolCall,
  awaitedCalls,
  cancelOpenTask,
  latestNote,
  noteOf,
  openTask,
  type PastAnswer,
  pastAnswers,
  tasksOf,
  taskWith,
} from './answers/thread.ts';
