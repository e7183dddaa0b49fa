import type { Json } from '@batonjs/protocol';
import { isObject } from '@batonjs/protocol/json';
import { GatewayRefusal } from '../tasks/gateway-refusal.ts';
import { type Assignment, type GatewayStatus, statuses } from '../tasks/gateway-task.ts';
import { decodeCursor, type TaskFilter } from '../tasks/task-log.ts';
import type { FormInput } from '../tasks/task-service.ts';

const longestId = 256;
/** The longest wait of a long poll, in seconds. */
const longestWait = 60;
const largestPage = 100;
/** The longest time that updates may be collected, in milliseconds. */
const longestBatch = 10_000;

export function toSubmission(body: unknown): Assignment {
  const {
    taskId = crypto.randomUUID(),
    type,
    data,
    status = 'created',
  } = members(body, ['taskId', 'type', 'data', 'status']);
  if (status !== 'created') throw invalid('`status` of a new task is "created"');
  return { taskId: toTaskId(taskId), type: toName('type', type), data: toObject('data', data) };
}

export function toFormInput(body: unknown): FormInput {
  const { formId, values } = members(body, ['formId', 'values']);
  return {
    formId: formId === undefined ? undefined : toName('formId', formId),
    values: toObject('values', values),
  };
}

/** The id of a task. Throws for one that no URL could hold: `updates` and dots mean something else there. */
export function toTaskId(taskId: unknown): string {
  const id = toName('taskId', taskId);
  if (/^(\.\.?|updates)$/.test(id)) throw invalid('`taskId` must not be ".", ".." or "updates"');
  return id;
}

function toName(name: string, value: unknown): string {
  if (typeof value !== 'string' || value === '')
    throw invalid(`\`${name}\` must be a string that is not empty`);
  if (value.length > longestId) throw invalid(`\`${name}\` must have at most ${longestId} characters`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are refused
  if (!value.isWellFormed() || /[\u0000-\u001f\u007f]/.test(value))
    throw invalid(`\`${name}\` must be well-formed Unicode without control characters`);
  return value;
}

function toObject(name: string, value: unknown): Readonly<Record<string, Json>> {
  if (!isObject(value)) throw invalid(`\`${name}\` must be an object`);
  return value as Readonly<Record<string, Json>>;
}

/** The members of a body. A misspelled member would otherwise be ignored without a word. */
export function members(body: unknown, known: readonly string[]): Readonly<Record<string, unknown>> {
  if (!isObject(body)) throw invalid('The body must be a JSON object');
  const unknown = Object.keys(body).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw invalid(
      `There is no member ${JSON.stringify(unknown.slice(0, 100))}: there are ${known.join(', ')}`,
    );
  return body as Readonly<Record<string, unknown>>;
}

/** A sequence in a frame; undefined if it has none. */
export function toSequence(after: unknown): number | undefined {
  if (after === undefined) return undefined;
  if (typeof after !== 'number' || !Number.isSafeInteger(after) || after < 0)
    throw invalid('`after` must be an integer of 0 or more');
  return after;
}

/** `?batchMs=<milliseconds>` of a WebSocket. */
export const toBatchMs = (query: URLSearchParams): number =>
  toNumber(query, 'batchMs', 0, longestBatch, true) ?? 0;

/** `?after=<sequence>&wait=<seconds>` of a task. Undefined without `wait`. */
export function toWait(query: URLSearchParams): { readonly after: number; readonly ms: number } | undefined {
  checkQuery(query, ['after', 'wait']);
  const wait = toNumber(query, 'wait', 0, longestWait);
  const after = toNumber(query, 'after', 0, Number.MAX_SAFE_INTEGER, true) ?? 0;
  return wait === undefined ? undefined : { after, ms: wait * 1_000 };
}

export function toFilter(query: URLSearchParams): TaskFilter {
  checkQuery(query, ['status', 'type', 'cursor', 'limit']);
  const status = query.get('status');
  if (status !== null && !statuses.includes(status as GatewayStatus))
    throw invalid(`\`status\` is one of ${statuses.join(', ')}`);
  const type = query.get('type');
  const cursor = query.get('cursor');
  const after = cursor === null ? undefined : decodeCursor(cursor);
  if (cursor !== null && !after) throw invalid('`cursor` must be the `cursor` of an earlier page');
  return {
    ...(status !== null && { status: status as GatewayStatus }),
    ...(type !== null && { type: toName('type', type) }),
    ...(after && { after }),
    limit: toNumber(query, 'limit', 1, largestPage, true) ?? 50,
  };
}

/** `?after=<sequence>&limit=<n>` of a history. */
export function toHistoryRange(query: URLSearchParams): { readonly after: number; readonly limit: number } {
  checkQuery(query, ['after', 'limit']);
  return {
    after: toNumber(query, 'after', 0, Number.MAX_SAFE_INTEGER, true) ?? 0,
    limit: toNumber(query, 'limit', 1, 1_000, true) ?? 1_000,
  };
}

export function checkQuery(query: URLSearchParams, known: readonly string[]): void {
  for (const name of query.keys()) {
    if (!known.includes(name))
      throw invalid(`There is no parameter ${JSON.stringify(name.slice(0, 100))}${listOf(known)}`);
    if (query.getAll(name).length > 1) throw invalid(`\`${name}\` must be given once`);
  }
}

const listOf = (known: readonly string[]): string =>
  known.length > 0 ? `: there are ${known.join(', ')}` : '';

function toNumber(
  query: URLSearchParams,
  name: string,
  least: number,
  most: number,
  isInteger = false,
): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const value = Number(text);
  const isDecimal = isInteger ? /^\d{1,16}$/.test(text) : /^\d{1,16}(\.\d{1,9})?$/.test(text);
  if (!isDecimal || value < least || value > most)
    throw invalid(`\`${name}\` must be ${isInteger ? 'an integer' : 'a number'} from ${least} to ${most}`);
  return value;
}

const invalid = (message: string): GatewayRefusal => new GatewayRefusal('INVALID_REQUEST', message);
