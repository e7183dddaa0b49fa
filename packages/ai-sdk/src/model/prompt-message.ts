import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import type { Part } from '@batonjs/protocol';
import { toBase64 } from '../durable/stored-parts.ts';

type Prompt = LanguageModelV4CallOptions['prompt'];
type PromptMessage = Prompt[number];
type AssistantMessage = Extract<PromptMessage, { role: 'assistant' }>;

/** Which conversation with the agent a prompt continues. */
export interface Continued {
  readonly contextId?: string;
  /** The task that asked something, and gets the answer. */
  readonly taskId?: string;
}

/** What a prompt becomes: the parts of one message, and where it goes. */
export interface PromptMessages extends Continued {
  readonly parts: Part[];
}

/**
 * The message that a prompt sends. An agent remembers its context, so that a prompt which continues one sends only what
 * came after the agent's last answer. Any other prompt sends instructions before it as text; unless the caller names the
 * context, earlier messages as well.
 */
export function messageOf(prompt: Prompt, options: SharedV4ProviderOptions | undefined): PromptMessages {
  const given = continuedIn(options);
  const last = prompt.findLastIndex(({ role }) => role === 'assistant');
  const answers = prompt.flatMap((message) => (message.role === 'assistant' ? [continuedBy(message)] : []));
  const known =
    given.contextId === undefined
      ? answers.at(-1)
      : answers.findLast((answer) => answer?.contextId === given.contextId);
  const continued = given.taskId ? given : { ...known, ...given };
  const before = [
    ...(continued.taskId || known ? [] : instructionsIn(prompt)),
    ...(continued.taskId || continued.contextId ? [] : saidBefore(prompt, last)),
  ].join('\n\n');
  const latest = prompt.slice(last + 1).filter(({ role }) => role === 'user' || role === 'tool');
  return {
    ...continued,
    parts: [...(before ? [{ text: before }] : []), ...latest.flatMap(partsOf)],
  };
}

const instructionsIn = (prompt: Prompt): string[] =>
  prompt.flatMap(({ role, content }) => (role === 'system' ? [content as string] : []));

/** What was said up to the last answer. */
const saidBefore = (prompt: Prompt, last: number): string[] =>
  prompt
    .slice(0, last + 1)
    .filter(({ role }) => role === 'user' || role === 'assistant')
    .map((message) => `${message.role === 'user' ? 'User' : 'Assistant'}: ${textIn(message)}`);

const textIn = (message: PromptMessage): string =>
  partsOf(message)
    .flatMap((part) => ('text' in part ? [part.text] : []))
    .join('\n');

function partsOf(message: PromptMessage): Part[] {
  if (message.role === 'system') return [];
  return message.content.flatMap((part): Part[] => {
    if (part.type === 'text') return [{ text: part.text }];
    if (part.type === 'file') return [fileOf(part)];
    if (part.type === 'tool-result' && 'value' in part.output)
      return [{ text: `${part.toolName}: ${JSON.stringify(part.output.value)}` }];
    return [];
  });
}

function fileOf({ data, mediaType, filename }: LanguageModelV4FilePart): Part {
  const about = { mediaType, ...(filename && { filename }) };
  switch (data.type) {
    case 'url':
      return { url: data.url.href, ...about };
    case 'text':
      return { text: data.text, ...about };
    case 'data':
      return { raw: typeof data.data === 'string' ? data.data : toBase64(data.data), ...about };
    case 'reference':
      throw new TypeError('A file of a provider cannot be sent to an agent');
  }
}

/** What `a2a` wrote into the metadata of an earlier answer. */
function continuedBy({ content, providerOptions }: AssistantMessage): Continued | undefined {
  const found = [providerOptions, ...content.map((part) => part.providerOptions)].map(continuedIn);
  return found.findLast(({ contextId, taskId }) => contextId ?? taskId);
}

function continuedIn(options: SharedV4ProviderOptions | undefined): Continued {
  const { contextId, taskId, state } = Object(options?.a2a) as Readonly<Record<string, unknown>>;
  // A task that has ended takes no message.
  const isOpen = state === undefined || String(state).endsWith('_REQUIRED');
  return {
    ...(typeof contextId === 'string' && { contextId }),
    ...(typeof taskId === 'string' && isOpen && { taskId }),
  };
}
