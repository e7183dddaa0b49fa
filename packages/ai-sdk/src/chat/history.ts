import { type AgentClient, isTerminal } from '@batonjs/client';
import { answerParts, type PastAnswer, pastAnswers, tasksOf } from '@batonjs/client/answers';
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { AI_SDK } from '../metadata.ts';
import { chunksOf } from './chunks.ts';

/**
 * The messages of a chat as `useChat` takes them at its start, from the tasks of its context: after a reload, and in
 * another browser. The answer that is still written is left out: `resume` gives it.
 */
export async function chatMessages(agent: AgentClient, chatId: string): Promise<UIMessage[]> {
  const tasks = await tasksOf(agent, chatId, { count: 100 });
  const messages: UIMessage[] = [];
  for (const past of pastAnswers(tasks, AI_SDK)) {
    messages.push(userMessage(past));
    const answer = await answerOf(past);
    if (answer) messages.push(answer);
  }
  return messages;
}

const userMessage = ({ id, message }: PastAnswer): UIMessage => ({
  id,
  role: 'user',
  parts: message.parts.flatMap((part): UIMessage['parts'] => {
    if ('text' in part) return [{ type: 'text', text: part.text }];
    const mediaType = part.mediaType ?? 'application/octet-stream';
    if ('url' in part) return [{ type: 'file', mediaType, url: part.url }];
    if ('raw' in part) return [{ type: 'file', mediaType, url: `data:${mediaType};base64,${part.raw}` }];
    return [{ type: 'data-answer', data: part.data }];
  }),
});

/** An answer, as its chunks add up. */
async function answerOf({ task, note, message }: PastAnswer): Promise<UIMessage | undefined> {
  if (!task) return undefined;
  const events = (async function* () {
    yield { task };
  })();
  const start = note ?? { messageId: message.messageId };
  const chunks = chunksOf(answerParts(events, start), note?.answerId ?? `answer-${message.messageId}`);
  return foldedInto(chunks, !isTerminal(task));
}

/** What asks the user. A question that is past was answered, in words perhaps, and is not asked again. */
const asks: ReadonlySet<string> = new Set(['tool-approval-request', 'data-question']);

async function foldedInto(
  chunks: AsyncIterable<UIMessageChunk>,
  isAnswered: boolean,
): Promise<UIMessage | undefined> {
  let message: UIMessage | undefined;
  const stream = new ReadableStream<UIMessageChunk>({
    async start(controller) {
      for await (const chunk of chunks) if (!isAnswered || !asks.has(chunk.type)) controller.enqueue(chunk);
      controller.close();
    },
  });
  // A task that failed has what it gave before: an error is no part of a message.
  for await (const state of readUIMessageStream({ stream })) message = state;
  return message;
}
