import type { Json, Message, Part, Task } from '@batonjs/protocol';
import { dataOf, textOf } from '@batonjs/protocol/parts';

/**
 * The result of a task without a typed skill: the data of the artifact `result`, else the data of its only artifact,
 * else its text, and its artifacts if they have more than text.
 */
export function resultOf({ artifacts = [], status }: Task): Json {
  const result = artifacts.find(({ name }) => name === 'result') ?? artifacts[0];
  const data = artifacts.length === 1 || result?.name === 'result' ? dataOf(result) : undefined;
  if (data !== undefined) return data;
  const parts = artifacts.flatMap((artifact) => artifact.parts);
  const text = artifacts
    .map((artifact) => textOf(artifact))
    .filter((each) => each !== '')
    .join('\n');
  return asResult(parts.every(isText) && text === '' ? textOf(status.message) : text, parts);
}

/** The result of an agent that answered with a message. */
export const resultOfMessage = (message: Message): Json =>
  dataOf(message) ?? asResult(textOf(message), message.parts);

const asResult = (text: string, parts: readonly Part[]): Json => ({
  ...(text !== '' && { text }),
  ...(!parts.every(isText) && { parts: JSON.parse(JSON.stringify(parts)) }),
});

const isText = (part: Part): boolean => 'text' in part;
