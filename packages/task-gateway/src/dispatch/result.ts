import { taskContent } from '@batonjs/client/answers';
import type { Json, Message, Part, Task } from '@batonjs/protocol';
import { dataOf, textOf } from '@batonjs/protocol/parts';

/**
 * What the agent made, without a typed skill: the data of the artifact `result`, else the data of its only artifact, else
 * its text, and its artifacts if they have more than text. Undefined if it made nothing.
 */
export function madeBy(task: Task): Json | undefined {
  const { artifacts = [] } = task;
  const result = artifacts.find(({ name }) => name === 'result') ?? artifacts[0];
  const data = artifacts.length === 1 || result?.name === 'result' ? dataOf(result) : undefined;
  const { text } = taskContent(task).made;
  const parts = artifacts.flatMap((artifact) => artifact.parts);
  return data ?? (text === '' && parts.every(isText) ? undefined : asResult(text, parts));
}

/** The result of a task that completed: what the agent made, or what it said if that is all. */
export const resultOf = (task: Task): Json => madeBy(task) ?? asResult(taskContent(task).said.text, []);

/** The result of an agent that answered with a message. */
export const resultOfMessage = (message: Message): Json =>
  dataOf(message) ?? asResult(textOf(message), message.parts);

const asResult = (text: string, parts: readonly Part[]): Json => ({
  ...(text !== '' && { text }),
  ...(!parts.every(isText) && { parts: JSON.parse(JSON.stringify(parts)) }),
});

const isText = (part: Part): boolean => 'text' in part;
