import type { Step } from './change.ts';

/** The decision to delete up to `limit` logs that ended before a time; resolves to how many. */
export const pruneStep = (before: number, limit: number): Step<number, never> => ({
  wanted: { ended: { before, limit } },
  decide: ({ ended }) => ({
    result: ended!.length,
    tasks: ended!.length === 0 ? undefined : ended!.map((row) => ({ before: row, after: undefined })),
  }),
});
