import type { Message } from '@batonjs/protocol';
import { TASK_TREE } from '@batonjs/protocol/headers';
import { completed, type Turn } from '@batonjs/server';
import { runTurn } from '@batonjs/testing';
import { describe, expect, it } from 'vitest';
import { answersAfter, depthOf, firstMessage } from '../src/children/messages.ts';

const said = (messageId: string, role: Message['role'] = 'ROLE_USER'): Message => ({
  messageId,
  role,
  parts: [{ text: messageId }],
});

/** A turn whose first message has this metadata. */
async function turnOf(metadata?: Record<string, unknown>): Promise<Turn> {
  let turn: Turn | undefined;
  const message = { ...said('m1'), ...(metadata && { metadata }) };
  await runTurn(async function* (given) {
    turn = given;
    yield completed();
  }, message);
  return turn!;
}

describe('the first message of a child', () => {
  it('has the same ids in every attempt, and others in another call', async () => {
    const first = firstMessage(await turnOf(), 'Hello', { name: 'a' });
    expect(firstMessage(await turnOf(), 'Something else', { name: 'a' })).toMatchObject({
      messageId: first.messageId,
      contextId: first.contextId,
    });
    const other = firstMessage(await turnOf(), 'Hello', { name: 'b' });
    expect([other.messageId, other.contextId]).not.toContain(first.messageId);
    expect(other.contextId).not.toBe(first.contextId);
  });

  it('names the parent, keeps the references and metadata that were given, and counts the depth', async () => {
    const turn = await turnOf({ [TASK_TREE]: { depth: 2 } });
    const parts = [{ text: 'Hello' }];
    const given = { parts, referenceTaskIds: ['t1'], metadata: { mine: 1 } };
    const options = { name: 'a', references: ['t2'], contextId: 'c' };
    expect(firstMessage(turn, given, options)).toEqual({
      role: 'ROLE_USER',
      messageId: expect.any(String),
      contextId: 'c',
      parts,
      referenceTaskIds: ['task', 't1', 't2'],
      metadata: { mine: 1, [TASK_TREE]: { parent: { taskId: 'task', name: 'a' }, depth: 3 } },
    });
  });
});

it.each([undefined, null, 'deep', { depth: -1 }, { depth: 1.5 }, { depth: 1e99 }, { depth: '3' }, [3]])(
  'a depth that a caller makes up, such as %j, counts as none',
  async (tree) => {
    expect(depthOf(await turnOf({ [TASK_TREE]: tree }))).toBe(0);
  },
);

it('answers to a question are those of the user before the agent speaks again', () => {
  const messages = [
    said('m1'),
    said('q1', 'ROLE_AGENT'),
    said('a1'),
    said('a2'),
    said('q2', 'ROLE_AGENT'),
    said('a3'),
  ];
  const idsAfter = (question?: string) => answersAfter(messages, question).map(({ messageId }) => messageId);
  expect(idsAfter('q1')).toEqual(['a1', 'a2']);
  expect(idsAfter('q2')).toEqual(['a3']);
  expect(idsAfter('q3')).toEqual([]);
  expect(idsAfter()).toEqual([]);
});
