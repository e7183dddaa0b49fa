import { foundOf, type Step } from './change.ts';

/** The decision to delete up to `limit` logs that ended before a time; resolves to how many. */
export const pruneStep = (before: number, limit: number): Step<number, never> => ({
  wanted: { ended: { before, limit } },
  decide: (found) => {
    const ended = foundOf(found, 'ended');
    if (ended.length === 0) return { result: 0 };
    return { result: ended.length, tasks: ended.map((before) => ({ before, after: undefined })) };
  },
});
