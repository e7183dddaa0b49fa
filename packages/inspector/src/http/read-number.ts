import { RequestError } from './reply.ts';

/** A whole number of the query; undefined without one. Throws a `RequestError` for anything else. */
export function readNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new RequestError(400, `${name} must be a whole number`);
}
