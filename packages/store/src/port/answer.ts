/** What a store or a database answers: at once, or as a promise. */
export type Answer<T> = T | Promise<T>;

/** Whether an answer is still to come, or is a failure. Promises of other libraries count too. */
export const isPending = <T>(answer: Answer<T>): answer is Promise<T> =>
  typeof (answer as { readonly then?: unknown } | null | undefined)?.then === 'function';

/** What follows from an answer, at once if it is there at once. */
export const whenAnswered = <T, U>(answer: Answer<T>, use: (value: T) => Answer<U>): Answer<U> =>
  isPending(answer) ? answer.then(use) : use(answer);
