/** A JSON object, as opposed to an array or a plain value. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Translates an object. Other values stay as they are, so that validation reports them. */
export const ifObject = <From extends object, To>(value: From, translate: (value: From) => To): To =>
  isObject(value) ? translate(value) : (value as never);

/** Translates each element of a list. Other values stay as they are, so that validation reports them. */
export function mapped<From, To>(
  list: readonly From[],
  translate: (element: From, index: number) => To,
): To[];
export function mapped<From, To>(
  list: readonly From[] | undefined,
  translate: (element: From, index: number) => To,
): To[] | undefined;
export function mapped(list: unknown, translate: (element: never, index: number) => unknown): unknown {
  return Array.isArray(list) ? list.map((element, index) => translate(element as never, index)) : list;
}

/** The object without members that are undefined. */
export function compact<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}

/** The path of a member. */
export const at = (path: string, member: string | number): string =>
  typeof member === 'number' ? `${path}[${member}]` : path === '' ? member : `${path}.${member}`;
