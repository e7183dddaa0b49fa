import type { Logger } from '@batonjs/server';

/** Errors and warnings to standard error. */
const write: Logger = (level, message, details) => {
  if (level !== 'info') console[level](`[baton] ${message}`, details);
};

/** A logger that keeps its lines until it is opened: tasks that are recovered would be logged amid the conversation. */
export function lateLog(): { readonly logger: Logger; open(): void } {
  let waiting: Parameters<Logger>[] | undefined = [];
  return {
    logger: (...line) => {
      if (waiting) waiting.push(line);
      else write(...line);
    },
    open() {
      const lines = waiting ?? [];
      waiting = undefined;
      for (const line of lines) write(...line);
    },
  };
}
