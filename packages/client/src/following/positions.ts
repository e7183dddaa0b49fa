/**
 * Whether a position `<log>.<number>` is at or before another one of the same log. False if they are of different logs
 * or cannot be compared.
 */
export const isAtOrBefore = (id: string | undefined, other: string | undefined): boolean =>
  isSameLog(id, other) && numberOf(id) <= numberOf(other);

/** Whether two positions `<log>.<number>` are of the same log. */
export function isSameLog(id: string | undefined, other: string | undefined): id is string {
  const dot = id?.lastIndexOf('.') ?? -1;
  return dot > -1 && id!.slice(0, dot) === other?.slice(0, other.lastIndexOf('.'));
}

/** The text between the last dot and `~`. After `~`, a server may add data by which it recognises the position. */
const numberOf = (id: string | undefined): number =>
  Number(id?.slice(id.lastIndexOf('.') + 1).split('~', 1)[0]);
