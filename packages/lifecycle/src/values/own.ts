/**
 * What one fold of many facts made. No reader has seen it before the fold ends, so the fold changes it in place: the
 * cost of a fact does not grow with the facts before it.
 */
export class Own {
  readonly #made = new Set<object>();
  /** The positions of the task's artifacts, by `artifactId`. */
  readonly artifacts = new Map<string, number>();

  has(value: object): boolean {
    return this.#made.has(value);
  }

  add(value: object): void {
    this.#made.add(value);
  }
}

/** The record to change: itself if the fold made it, otherwise a copy. Without a fold, always a copy. */
export function changeable<T>(record: Readonly<Record<string, T>> = {}, own?: Own): Record<string, T> {
  if (own?.has(record)) return record;
  const copy = { ...record };
  own?.add(copy);
  return copy;
}

/** The record with one more member. */
export function withMember<T>(
  record: Readonly<Record<string, T>> | undefined,
  name: string,
  value: T,
  own?: Own,
): Readonly<Record<string, T>> {
  const changed = changeable(record, own);
  setMember(changed, name, value);
  return changed;
}

/** Sets a member of any name: assigning to `__proto__` would make no member. */
export function setMember<T>(record: Record<string, T>, name: string, value: T): void {
  if (name !== '__proto__') record[name] = value;
  else Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true });
}
