import { StoreError } from '@batonjs/store';

/** Follows the noun in messages: 'The SQLite of this Durable Object …'. */
export const ofThisObject = 'of this Durable Object';

/** The error of a store whose data was deleted by `deleteAll`. */
export const dataDeleted = (): StoreError =>
  new StoreError('UNUSABLE', `The data ${ofThisObject} was deleted while it was in use`);

/**
 * The error for a failed call. SQLite's own errors become `UNAVAILABLE`, because a later attempt may succeed, or
 * `UNUSABLE` once the tables are gone.
 */
export function storeError(error: unknown): unknown {
  if (StoreError.is(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (message.includes('no such table')) {
    const why = `The tables ${ofThisObject} were deleted while it was in use`;
    return new StoreError('UNUSABLE', why, { cause: error });
  }
  const isFull = message.includes('SQLITE_FULL');
  return new StoreError(
    'UNAVAILABLE',
    `The SQLite ${ofThisObject} ${isFull ? 'is full' : 'failed'}: ${message}`,
    {
      cause: error,
      trouble: isFull ? 'disk-full' : undefined,
    },
  );
}
