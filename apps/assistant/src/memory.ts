import { type Message, type Task, type Turn, textOf } from '@batonjs/server';
import type { ModelMessage } from 'ai';

/** The conversation as a model reads it: questions and answers of the earlier tasks, then the current message. */
export async function memoryOf({ context, text }: Turn): Promise<ModelMessage[]> {
  const before = (await context.tasks()).filter(({ status }) => status.state === 'TASK_STATE_COMPLETED');
  return [...before.flatMap(exchangeOf), { role: 'user', content: text }];
}

function exchangeOf({ history = [], artifacts = [] }: Task): ModelMessage[] {
  const asked = history.filter(({ role }: Message) => role === 'ROLE_USER').flatMap(({ parts }) => parts);
  return [
    { role: 'user', content: textOf({ parts: asked }) },
    { role: 'assistant', content: textOf({ parts: artifacts.flatMap(({ parts }) => parts) }) },
  ];
}
