import type { Message, Part, Task, Turn } from '@batonjs/server';
import type { ModelMessage } from 'ai';

/** The conversation as a model reads it: the tasks before this one, question and answer, then what is asked now. */
export async function memoryOf({ context, text }: Turn): Promise<ModelMessage[]> {
  const before = (await context.tasks()).filter(({ status }) => status.state === 'TASK_STATE_COMPLETED');
  return [...before.flatMap(exchangeOf), { role: 'user', content: text }];
}

function exchangeOf({ history = [], artifacts = [] }: Task): ModelMessage[] {
  const asked = history.filter(({ role }: Message) => role === 'ROLE_USER').flatMap(({ parts }) => parts);
  return [
    { role: 'user', content: textOf(asked) },
    { role: 'assistant', content: textOf(artifacts.flatMap(({ parts }) => parts)) },
  ];
}

const textOf = (parts: readonly Part[]): string =>
  parts.map((part) => ('text' in part ? part.text : '')).join('');
