import type { Message } from '@batonjs/protocol';
import { expect, it } from 'vitest';
import { isSameMessage } from '../../../src/operations/accept/receive.ts';

const message: Message = {
  messageId: 'm',
  contextId: 'c',
  taskId: 't',
  role: 'ROLE_USER',
  parts: [{ text: 'hello' }],
};
const sent = (more: Partial<Message>, metadata?: Record<string, unknown>) =>
  ({ message: { ...message, ...more }, metadata }) as Parameters<typeof isSameMessage>[0];

const stored = sent({}, { of: 'the send' });

it.each([
  ['itself', stored, stored],
  [
    'its members in another order',
    stored,
    { metadata: { of: 'the send' }, message: { ...message, role: 'ROLE_USER' } },
  ],
  ['no task, where the server chose one', stored, sent({ taskId: undefined }, { of: 'the send' })],
  ['an empty task id, where the server chose one', stored, sent({ taskId: '' }, { of: 'the send' })],
  ['no context, where the server chose one', stored, sent({ contextId: undefined }, { of: 'the send' })],
  ['an empty context id, where the server chose one', stored, sent({ contextId: '' }, { of: 'the send' })],
  ['a member of the message that is undefined', stored, sent({ extensions: undefined }, { of: 'the send' })],
  ['metadata with a member that is undefined', stored, sent({}, { of: 'the send', at: undefined })],
  ['no metadata, as before', sent({}), sent({})],
] as const)('is the same message: %s', (_, before, now) => {
  expect(isSameMessage(before as typeof stored, now as typeof stored)).toBe(true);
});

it.each([
  ['other parts', sent({ parts: [{ text: 'bye' }] }, { of: 'the send' })],
  ['other metadata', sent({}, { of: 'another send' })],
  ['no metadata', sent({})],
  ['empty metadata', sent({}, {})],
  ['another task', sent({ taskId: 'u' }, { of: 'the send' })],
  ['another context', sent({ contextId: 'd' }, { of: 'the send' })],
] as const)('is another message: %s', (_, now) => {
  expect(isSameMessage(stored, now)).toBe(false);
  expect(isSameMessage(now, stored)).toBe(false);
});

it('is another message: metadata where there was none', () => {
  expect(isSameMessage(sent({}), sent({}, { of: 'the send' }))).toBe(false);
});
