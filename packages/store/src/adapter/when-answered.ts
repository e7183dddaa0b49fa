import type { Answer } from './rows.ts';

/** What follows from an answer, at once if it is there at once. */
export const whenAnswered = <T, U>(answer: Answer<T>, use: (value: T) => Answer<U>): Answer<U> =>
  answer instanceof Promise ? answer.then(use) : use(answer);
