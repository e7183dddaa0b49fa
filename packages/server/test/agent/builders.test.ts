import type { Message } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import {
  append,
  artifact,
  authRequired,
  canceled,
  completed,
  completedBeforeCancel,
  data,
  failed,
  file,
  inputRequired,
  link,
  rejected,
  reply,
  text,
  working,
} from '../../src/index.ts';

const message = (...parts: object[]) => ({ messageId: expect.any(String), role: 'ROLE_AGENT', parts });

describe('a builder makes', () => {
  const own: Message = { messageId: 'm', role: 'ROLE_AGENT', parts: [] };
  const state = 'TASK_STATE_WORKING';
  // biome-ignore format: a table reads best with one row per line
  it.each<[what: string, made: object, expected: object]>([
    ['parts with options', reply('a', text('b', { mediaType: 'm' }), data(1, { filename: 'f' }), file(Buffer.from('hi'), { filename: 'f' }), link('u', { metadata: {} })), message({ text: 'a' }, { text: 'b', mediaType: 'm' }, { data: 1, filename: 'f' }, { raw: 'aGk=', filename: 'f' }, { url: 'u', metadata: {} })],
    ['a status alone', working(), { status: { state } }],
    ['a status with text', working('a'), { status: { state, message: message({ text: 'a' }) } }],
    ['a status with a part', working(data(1)), { status: { state, message: message({ data: 1 }) } }],
    ['a status with parts', working([text('a'), data(1)]), { status: { state, message: message({ text: 'a' }, { data: 1 }) } }],
    ['a status with a message', working(own), { status: { state, message: own } }],
    ['a status with metadata', working(undefined, { a: 1 }), { status: { state }, metadata: { a: 1 } }],
    ['an end that stands after a cancel request', completedBeforeCancel('a', { b: 1 }), { ...completed(own, { b: 1 }), status: { state: 'TASK_STATE_COMPLETED', message: message({ text: 'a' }) }, beforeCancel: true }],
    ['a question', inputRequired(), { status: { state: 'TASK_STATE_INPUT_REQUIRED' } }],
    ['a question of rights', authRequired(), { status: { state: 'TASK_STATE_AUTH_REQUIRED' } }],
    ['an end', completed(), { status: { state: 'TASK_STATE_COMPLETED' } }],
    ['an end that was asked for', canceled(), { status: { state: 'TASK_STATE_CANCELED' } }],
    ['a refusal', rejected(), { status: { state: 'TASK_STATE_REJECTED' } }],
    ['a failure with text', failed('a', { b: 1 }), { status: { state: 'TASK_STATE_FAILED', message: message({ text: 'a' }) }, metadata: { b: 1 } }],
    ['a failure for programs', failed({ code: 'C', message: 'a', retryable: true }), { status: { state: 'TASK_STATE_FAILED', message: message({ text: 'a' }, { data: { code: 'C', message: 'a', retryable: true }, mediaType: 'application/json' }) } }],
    ['a failure without a reason', failed(), { status: { state: 'TASK_STATE_FAILED' } }],
    ['an artifact by its name', artifact('a', 'b'), { artifact: { artifactId: 'a', name: 'a', parts: [{ text: 'b' }] } }],
    ['an artifact by its members', artifact({ artifactId: 'i', name: 'a', lastChunk: true }, 'b'), { artifact: { artifactId: 'i', name: 'a', parts: [{ text: 'b' }] }, lastChunk: true }],
    ['an artifact without a name', artifact({}, 'b'), { artifact: { artifactId: expect.stringMatching(/^[\da-f-]{36}$/), parts: [{ text: 'b' }] } }],
    ['more of an artifact', append('i', 'b'), { artifact: { artifactId: 'i', parts: [{ text: 'b' }] }, append: true }],
    ['the last of an artifact', append({ artifactId: 'i', lastChunk: true }, 'b'), { artifact: { artifactId: 'i', parts: [{ text: 'b' }] }, append: true, lastChunk: true }],
  ])('%s', (_, made, expected) => {
    expect(made).toStrictEqual(expected);
  });
});
