import { isInterrupted, labelProblem, type State, type TaskUpdate } from '@batonjs/lifecycle';
import type { Message } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { asJson } from './message-content.ts';

/** Whether an agent answered with updates rather than with a message. */
export const isUpdates = (answer: unknown): answer is AsyncIterable<TaskUpdate> =>
  typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;

/** Throws `INVALID_AGENT_RESPONSE` unless an agent may answer with it, other than with updates. */
export function checkAnswer(answer: unknown): asserts answer is Message {
  if (shapeOf(answer) !== 'a message') {
    throw invalid(
      `The agent returned ${shapeOf(answer)}; it returns a message, such as reply('Hello'), or is an async function* that yields updates`,
    );
  }
  checkMessage(answer);
}

/** Throws `INVALID_AGENT_RESPONSE` unless a task may be left in this state when its agent ends. */
export function checkEnd({ task, wakeAt }: Pick<State, 'task' | 'wakeAt'>): void {
  if (task && (wakeAt !== undefined || isInterrupted(task.status.state))) return;
  throw invalid('The agent ended without saying how the task ended, such as by `yield completed()`');
}

/** The members of updates that `checkUpdate` knows. `beforeCancel` may be anything, and `form` is of a package of Baton. */
type KnownMembers = Readonly<
  Record<
    | 'status'
    | 'artifact'
    | 'append'
    | 'lastChunk'
    | 'metadata'
    | 'child'
    | 'memory'
    | 'labels'
    | 'beforeCancel'
    | 'form'
    | 'onlyBy',
    unknown
  >
>;

type KeysOf<Update> = Update extends unknown ? keyof Update : never;

/** The members of all updates. The compiler misses one that `checkUpdate` does not know. */
type AllMembers = Readonly<Record<KeysOf<TaskUpdate>, unknown>>;

/**
 * Throws `INVALID_AGENT_RESPONSE` unless it could be sent as an update. By hand: a schema would cost more than the rest
 * of an update.
 */
export function checkUpdate(update: TaskUpdate): void {
  const { status, artifact, append, lastChunk, metadata, child, memory, labels, onlyBy } = Object(
    update,
  ) as KnownMembers satisfies AllMembers;
  if (memory !== undefined) checkMemory(memory);
  if (child !== undefined) checkChild(child);
  if (labels !== undefined) checkLabels(labels);
  const isInside = child !== undefined || labels !== undefined;
  if (isInside && status === undefined && artifact === undefined) return;
  if ((status === undefined) === (artifact === undefined)) {
    throw invalid(
      `The agent yielded ${shapeOf(update)}; an update has a status or an artifact, such as working(), artifact(…) and completed()`,
    );
  }
  mayBe('object', { metadata });
  if (status === undefined) {
    mayBe('boolean', { append, lastChunk });
    const { name, description, metadata, parts } = members(artifact, 'An artifact');
    mayBe('string', { name, description });
    mayBe('object', { metadata });
    checkParts(parts);
  } else {
    const { state, message } = members(status, 'A status');
    if (message !== undefined) checkMessage(message);
    if (onlyBy !== undefined) checkOnlyBy(state, message, onlyBy);
  }
}

/** Throws `INVALID_AGENT_RESPONSE` unless the agent may remember it. `undefined` forgets a key. */
export function checkMemory(memory: unknown): void {
  for (const [key, value] of Object.entries(members(memory, '`memory` of an update'))) {
    try {
      asJson(`The memory "${key}"`, value);
    } catch (cause) {
      // Clients may see the message, and no key.
      throw new A2AError('INVALID_AGENT_RESPONSE', 'What the agent remembers is not JSON', { cause });
    }
  }
}

function checkOnlyBy(state: unknown, message: unknown, onlyBy: unknown): void {
  if (state !== 'TASK_STATE_INPUT_REQUIRED' || message === undefined)
    throw invalid('The agent broke a rule: `onlyBy` is of a question, such as inputRequired(…)');
  const isNames =
    Array.isArray(onlyBy) && onlyBy.length > 0 && onlyBy.every((name) => typeof name === 'string');
  if (onlyBy !== 'link' && !isNames)
    throw invalid("The agent broke a rule: `onlyBy` is 'link', or the names of those who may answer");
}

function checkLabels(labels: unknown): void {
  const problem = labelProblem(labels);
  if (problem) throw invalid(`The agent broke a rule: ${problem}`);
}

function checkChild(child: unknown): void {
  const { name, agent, taskId, state } = members(child, 'A child');
  for (const [member, value] of Object.entries({ name, agent }))
    if (typeof value !== 'string' || value === '')
      throw invalid(`The agent broke a rule: \`${member}\` of a child is a text`);
  mayBe('string', { taskId, state });
}

/** Throws `INVALID_AGENT_RESPONSE` unless it could be sent as a message. */
export function checkMessage(message: unknown): asserts message is Message {
  const { metadata, parts } = members(message, 'A message');
  mayBe('object', { metadata });
  checkParts(parts);
}

function checkParts(parts: unknown): void {
  if (!Array.isArray(parts)) throw invalid('The agent broke a rule: `parts` is an array');
  for (const part of parts) {
    const { text, raw, url, data, filename, mediaType, metadata } = members(part, 'A part');
    const hasData = data !== undefined && typeof data !== 'function' && typeof data !== 'symbol';
    const contents = [text !== undefined, raw !== undefined, url !== undefined, hasData];
    if (contents.filter(Boolean).length !== 1)
      throw invalid('The agent broke a rule: A part has one of `text`, `raw`, `url` and `data`');
    mayBe('string', { text, raw, url, filename, mediaType });
    mayBe('object', { metadata });
  }
}

function members(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(`The agent broke a rule: ${what} is an object`);
  return value as Record<string, unknown>;
}

function mayBe(type: 'string' | 'boolean' | 'object', values: Readonly<Record<string, unknown>>): void {
  for (const name in values) {
    const value = values[name];
    if (value === undefined) continue;
    if (typeof value !== type || value === null)
      throw invalid(`The agent broke a rule: \`${name}\` is a ${type}`);
  }
}

/** Names the kind of a value for authors of agents. Reveals nothing of its content: clients see the text. */
function shapeOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object') return `a ${typeof value}`;
  if (Symbol.iterator in value) return 'a synchronous generator or another iterable (is `async` missing?)';
  if (Symbol.asyncIterator in value) return 'an async iterable (is `yield*` missing?)';
  if ('status' in value && 'artifact' in value) return 'an object with both';
  if ('status' in value && 'id' in value) return 'a task';
  if ('status' in value || 'artifact' in value) return 'a single update';
  if ('parts' in value) return 'artifactId' in value ? 'an artifact' : 'a message';
  if (['text', 'data', 'url', 'raw'].some((name) => name in value)) return 'a part';
  return 'an object of another kind';
}

const invalid = (message: string) => new A2AError('INVALID_AGENT_RESPONSE', message);
