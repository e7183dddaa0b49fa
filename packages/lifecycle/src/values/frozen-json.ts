import { compact } from '@batonjs/protocol/json';

/**
 * An immutable copy of a JSON value, so that all readers can share it. It has the members that `JSON.stringify` would
 * write: no `undefined`, dates as text. A frozen value is taken for such a copy. Throws `TypeError` for values that JSON
 * does not have, `RangeError` for an object that contains itself.
 */
export const frozenJson = <T>(value: T): T =>
  typeof value === 'object' && Object.isFrozen(value) ? value : (copy(value) as T);

/** The same for a new object that has no other user: it freezes the object itself and copies only the members. */
export const freezeMembers = <T extends object>(fresh: T): T =>
  copyMembers(fresh as Record<string, unknown>) as T;

function copy(value: unknown): unknown {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'bigint') throw new TypeError('JSON cannot say a bigint');
  if (typeof value !== 'object') return undefined;
  if (Array.isArray(value)) return Object.freeze(value.map(copyItem));
  const prototype = Object.getPrototypeOf(value);
  const isPlain =
    (prototype === Object.prototype || prototype === null) &&
    typeof (value as { toJSON?: unknown }).toJSON !== 'function';
  if (isPlain) return copyMembers({ ...value });
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? undefined : copy(JSON.parse(text));
}

const copyItem = (item: unknown): unknown => copy(item) ?? null;

/** Spreading first and then replacing single members is several times as fast as adding all members one by one. */
function copyMembers(target: Record<string, unknown>): unknown {
  let absent = false;
  for (const key in target) {
    const member = target[key];
    if (typeof member === 'string' || typeof member === 'boolean') continue;
    const copied = copy(member);
    if (copied !== member) target[key] = copied;
    absent ||= copied === undefined;
  }
  return Object.freeze(absent ? compact(target) : target);
}
