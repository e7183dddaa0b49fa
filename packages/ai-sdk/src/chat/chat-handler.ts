import { cancelOpenTask } from '@batonjs/client/answers';
import {
  type FrontAgent,
  type FrontDoor,
  type FrontDoorOptions,
  type FrontReply,
  frontDoor,
} from '@batonjs/extensions/internals';
import { A2AError } from '@batonjs/protocol/errors';
import { encodeSse, sseHeaders } from '@batonjs/server/adapter';
import { safeValidateUIMessages, type UIMessage, type UIMessageChunk } from 'ai';
import { resumeChat, sendChat } from './chat.ts';
import { chatMessages } from './transport.ts';

/** Options of `chatHandler`. */
export type ChatHandlerOptions = FrontDoorOptions;

/** The header by which `useChat` knows the protocol. */
const headers = { ...sseHeaders, 'x-vercel-ai-ui-message-stream': 'v1' };

/**
 * The server side of the UI message stream protocol, for `useChat` with its default transport. Mount it as an agent:
 * `POST /` sends, `GET /{chatId}/stream` goes on, `GET /{chatId}/messages` has the messages for a page that was loaded
 * again, and `DELETE /{chatId}` cancels. Throws `TypeError` for an option that it does not have.
 */
export function chatHandler(agent: FrontAgent, options: ChatHandlerOptions = {}): FrontDoor {
  // The default transport shows the body of a refusal as it is.
  return frontDoor(agent, options, 'text', async (asked): Promise<FrontReply> => {
    const { method, path, agent, follow } = asked;
    const [id, what, ...more] = path;
    if (method === 'POST' && id === undefined) {
      const sending = await readSending(await asked.json());
      return { status: 200, headers, body: eventsOf(await sendChat(agent, sending, follow)) };
    }
    if (id === undefined || more.length > 0) throw asked.notFound();
    if (method === 'GET' && what === 'stream') {
      const chunks = await resumeChat(agent, id, follow);
      if (!chunks) return { status: 204, headers: {} };
      return { status: 200, headers, body: eventsOf(chunks) };
    }
    if (method === 'GET' && what === 'messages') {
      const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
      return { status: 200, headers, body: JSON.stringify(await chatMessages(agent, id)) };
    }
    if (method === 'DELETE' && what === undefined)
      return { status: (await cancelOpenTask(agent, id)) ? 202 : 204, headers: {} };
    throw asked.notFound();
  });
}

async function readSending(body: unknown) {
  const { id, messages, trigger }: Record<string, unknown> = Object(body);
  if (typeof id !== 'string' || id === '') throw new A2AError('INVALID_PARAMS', 'The chat has no id');
  const read = await safeValidateUIMessages<UIMessage>({ messages });
  if (!read.success) throw new A2AError('INVALID_PARAMS', 'The messages are no messages of the AI SDK');
  return { chatId: id, messages: read.data, ...(typeof trigger === 'string' && { trigger }) };
}

/** The stream breaks off without its end if the agent cannot be followed any more: the page resumes then. */
async function* eventsOf(chunks: AsyncIterable<UIMessageChunk>): AsyncGenerator<string, void, void> {
  for await (const chunk of chunks) yield encodeSse({ data: JSON.stringify(chunk) });
  yield encodeSse({ data: '[DONE]' });
}
