import type { Message } from '@batonjs/protocol';
import type { Turn } from '@batonjs/server';
import { expect, it } from 'vitest';
import { historyOf } from '../../src/history/task-messages.ts';
import { AI_SDK } from '../../src/metadata.ts';

const said = (messageId: string, text: string, more: Partial<Message> = {}): Message => ({
  messageId,
  role: 'ROLE_USER',
  parts: [{ text }],
  ...more,
});

it('a question that an earlier release kept is answered by the next message', async () => {
  const kept = { messages: [{ role: 'assistant', content: 'Which one?' }], pending: [] };
  const question = said('asked', 'Which one?', { role: 'ROLE_AGENT', metadata: { [AI_SDK]: { kept } } });
  const messages = [said('m1', 'book'), question, said('m2', 'the red one')];
  const turn = { taskId: 'task', messages, message: messages[2] } as unknown as Turn;
  const history = await historyOf(turn, { tasks: 0, artifact: 'answer', secret: undefined });
  expect(history.given).toEqual({ files: 0, sources: [], texts: {} });
  expect(history.messages.map(({ role, content }) => [role, content])).toEqual([
    ['user', expect.anything()],
    ['assistant', 'Which one?'],
    ['user', expect.anything()],
  ]);
});
