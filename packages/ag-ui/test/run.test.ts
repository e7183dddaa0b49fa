import type { AgentClient } from '@batonjs/client';
import { expect, it } from 'vitest';
import { openRun } from '../src/run.ts';
import { readRunInput } from '../src/run-input.ts';

it('a result of a tool answers no question that asks for something else', async () => {
  const task = {
    id: 'task',
    contextId: 't',
    status: {
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { messageId: 'q', role: 'ROLE_AGENT', parts: [{ text: 'Which?' }] },
    },
  };
  const followed: string[] = [];
  const agent = {
    listTasks: async () => ({ tasks: [task], nextPageToken: '' }),
    follow(id: string) {
      followed.push(id);
      return (async function* () {
        yield { task };
      })();
    },
  } as unknown as AgentClient;
  const messages = [
    { id: 'u', role: 'user', content: 'Hi' },
    { id: 'r', role: 'tool', toolCallId: 'c', content: '1' },
  ];
  const input = readRunInput({ threadId: 't', runId: 'r', messages });
  const settings = { signal: new AbortController().signal, followForMs: 1 } as never;
  const run = await openRun(agent, input, settings);
  expect([followed, run.isFollowed, run.answerId]).toEqual([['task'], true, 'task']);
  expect(run.messages).toEqual(input.messages.slice(0, 1));
});
