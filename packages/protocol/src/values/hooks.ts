/**
 * The one way to call a function of the user's whose answer is not awaited. What it throws, or rejects with, goes to
 * `failed` and no further: it changes no answer, and does not end the process. Default: standard error.
 */
export function guardHook<Args extends readonly unknown[]>(
  name: string,
  hook: ((...args: Args) => unknown) | undefined,
  failed = (message: string, err: unknown): void => console.error(`[baton] ${message}`, { err }),
): (...args: Args) => void {
  const fail = (error: unknown) => {
    try {
      failed(`${name} failed`, error);
    } catch {
      // The value that the hook threw cannot be printed.
      failed(`${name} failed`, '');
    }
  };
  return (...args) => {
    try {
      const called = hook?.(...args);
      // Unhandled, the rejection of an `async` hook would end the process.
      if (called instanceof Promise) called.catch(fail);
    } catch (error) {
      fail(error);
    }
  };
}

/** What a function of the user's answers. Undefined if it throws, which is a failure of a hook, as a rejection is. */
export function askHook<T>(
  name: string,
  ask: () => T,
  failed?: Parameters<typeof guardHook>[2],
): T | undefined {
  let answer: T | undefined;
  const hook = () => {
    answer = ask();
    return answer;
  };
  guardHook(name, hook, failed)();
  return answer;
}
