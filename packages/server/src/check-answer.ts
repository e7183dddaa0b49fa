import type { TaskUpdate } from '@batonjs/lifecycle';
import type { Message } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';

/** Throws `INVALID_AGENT_RESPONSE` unless it could be sent as an update. By hand: a schema would cost more than the rest of an update. */
export function checkUpdate(update: TaskUpdate): void {
  const { status, artifact, append, lastChunk, metadata } = members(update, 'An update');
  if ((status === undefined) === (artifact === undefined))
    throw invalid('An update has a status or an artifact');
  mayBe('object', { metadata });
  if (status === undefined) {
    mayBe('boolean', { append, lastChunk });
    const { name, description, metadata, parts } = members(artifact, 'An artifact');
    mayBe('string', { name, description });
    mayBe('object', { metadata });
    checkParts(parts);
  } else {
    const { message } = members(status, 'A status');
    if (message !== undefined) checkMessage(message);
  }
}

/** Throws `INVALID_AGENT_RESPONSE` unless it could be sent as a message. */
export function checkMessage(message: unknown): asserts message is Message {
  const { metadata, parts } = members(message, 'A message');
  mayBe('object', { metadata });
  checkParts(parts);
}

function checkParts(parts: unknown): void {
  if (!Array.isArray(parts)) throw invalid('`parts` is an array');
  for (const part of parts) {
    const { text, raw, url, data, filename, mediaType, metadata } = members(part, 'A part');
    const hasData = data !== undefined && typeof data !== 'function' && typeof data !== 'symbol';
    const contents = [text !== undefined, raw !== undefined, url !== undefined, hasData];
    if (contents.filter(Boolean).length !== 1)
      throw invalid('A part has one of `text`, `raw`, `url` and `data`');
    mayBe('string', { text, raw, url, filename, mediaType });
    mayBe('object', { metadata });
  }
}

function members(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(`${what} is an object`);
  return value as Record<string, unknown>;
}

function mayBe(type: 'string' | 'boolean' | 'object', values: Readonly<Record<string, unknown>>): void {
  for (const name in values) {
    const value = values[name];
    if (value === undefined) continue;
    if (typeof value !== type || value === null) throw invalid(`\`${name}\` is a ${type}`);
  }
}

const invalid = (rule: string) => new A2AError('INVALID_AGENT_RESPONSE', `The agent broke a rule: ${rule}`);
