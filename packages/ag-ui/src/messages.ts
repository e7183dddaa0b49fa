import { textOf } from '@batonjs/client';
import { pastAnswers } from '@batonjs/client/answers';
import type { Json, Message, Part, Task } from '@batonjs/protocol';
import { isObject, tryJson } from '@batonjs/protocol/json';
import type { AgUiMessage } from './run-input.ts';

/** The messages of the user that no answer follows yet. */
export function newMessages(messages: readonly AgUiMessage[]): readonly AgUiMessage[] {
  const last = messages.findLastIndex(({ role }) => role === 'assistant' || role === 'tool');
  return messages.slice(last + 1).filter(({ role }) => role === 'user');
}

/** The results of front-end tools at the end of the messages, by the ids of their calls. */
export function toolResults(messages: readonly AgUiMessage[]): ReadonlyMap<string, Json> {
  const last = messages.findLastIndex(({ role }) => role !== 'tool');
  return new Map(
    messages
      .slice(last + 1)
      .flatMap(({ toolCallId, content, error }): [string, Json][] =>
        toolCallId === undefined ? [] : [[toolCallId, error ? { error } : parsed(content)]],
      ),
  );
}

/** Results are JSON in a text, or plain text. */
const parsed = (content: Json = null): Json =>
  typeof content === 'string' ? ((tryJson(content) as Json | undefined) ?? content) : content;

/** The content of a message of the user for the agent. */
export function partsOf({ content }: AgUiMessage): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }];
  return (Array.isArray(content) ? content : []).flatMap((each): Part[] => {
    const { text, source }: Record<string, Json | undefined> = Object(each);
    if (typeof text === 'string') return [{ text }];
    const { type, value, mimeType }: Record<string, Json | undefined> = Object(source);
    if (typeof value !== 'string') return [];
    const mediaType = typeof mimeType === 'string' ? { mediaType: mimeType } : {};
    return [type === 'data' ? { raw: value, ...mediaType } : { url: value, ...mediaType }];
  });
}

/** The messages of a thread, from its tasks, for a front end that does not have them. */
export const messagesOf = (tasks: readonly Task[]): AgUiMessage[] =>
  pastAnswers(tasks, AG_UI).flatMap(({ id, message, task: then }): AgUiMessage[] => {
    const asked = { id, role: 'user', content: contentOf(message) };
    const texts = (then?.artifacts ?? []).filter(({ artifactId }) => artifactId !== 'reasoning');
    const answers = texts.map((artifact) => ({
      id: `${message.messageId}-${artifact.artifactId}`,
      role: 'assistant',
      content: textOf(artifact),
    }));
    const { message: last } = then?.status ?? {};
    const words = last ? [{ id: last.messageId, role: 'assistant', content: textOf(last) }] : [];
    return [asked, ...answers, ...words].filter(({ content }) => content !== '');
  });

/** What `partsOf` reads as the parts of a message, but for its data. */
function contentOf({ parts }: Message): Json {
  const contents = parts.flatMap((part): Json[] => {
    if ('data' in part) return [];
    if ('text' in part) return [{ type: 'text', text: part.text }];
    const mimeType = part.mediaType ?? 'application/octet-stream';
    const [, type = 'document'] = /^(image|audio|video)\//.exec(mimeType) ?? [];
    const source = 'url' in part ? { type: 'url', value: part.url } : { type: 'data', value: part.raw };
    return [{ type, source: { ...source, mimeType } }];
  });
  const isOneText = contents.length < 2 && parts.every((part) => 'text' in part || 'data' in part);
  return isOneText ? textOf({ parts }) : contents;
}

/** The key of what this package writes into the metadata of messages. */
export const AG_UI = 'https://batonjs.dev/ag-ui/v1';

/** A tool that the front end runs. */
export interface FrontEndTool {
  readonly name: string;
  readonly description?: string;
  /** A JSON Schema. */
  readonly parameters?: Readonly<Record<string, Json>>;
}

/** What a front end offers to an agent. */
export interface FrontEnd {
  readonly tools: readonly FrontEndTool[];
  readonly context: readonly { readonly description: string; readonly value: string }[];
  readonly state: Json | undefined;
  readonly forwardedProps: Json | undefined;
}

/**
 * The tools, the context and the state that the front end sent with a message: `frontEndOf(turn.message)`. Undefined if it
 * came in another way. Callers write all of it: treat it as you treat their messages.
 */
export function frontEndOf({ metadata }: Pick<Message, 'metadata'>): FrontEnd | undefined {
  const sent: Record<string, Json | undefined> = Object(metadata?.[AG_UI]);
  if (!Array.isArray(sent.tools) || !Array.isArray(sent.context)) return undefined;
  return {
    tools: sent.tools.flatMap((tool): FrontEndTool[] => {
      const { name, description, parameters }: Record<string, Json | undefined> = Object(tool);
      if (typeof name !== 'string') return [];
      return [
        {
          name,
          ...(typeof description === 'string' && { description }),
          ...(isObject(parameters) && { parameters: parameters as Record<string, Json> }),
        },
      ];
    }),
    context: sent.context.flatMap((entry) => {
      const { description, value }: Record<string, Json | undefined> = Object(entry);
      return typeof description === 'string' && typeof value === 'string' ? [{ description, value }] : [];
    }),
    state: sent.state,
    forwardedProps: sent.forwardedProps,
  };
}
