import type { LanguageModelV4Prompt } from '@ai-sdk/provider';

/** A message of a prompt as text. */
export interface KeptMessage {
  readonly role: string;
  readonly text: string;
}

/** What a model was asked, as text, within a bound. */
export interface KeptPrompt {
  readonly messages: readonly KeptMessage[];
  /** Messages, or ends of them, were left out. */
  readonly isCut?: true;
}

/** How many bytes of a prompt are kept where the agent does not say. */
export const promptBytes = 16_384;

/**
 * The text of a prompt in at most so many bytes of UTF-8: the instructions first, then the newest messages. Files become
 * their media types; calls of tools and their results, JSON.
 */
export function keptPrompt(prompt: LanguageModelV4Prompt, bytes: number): KeptPrompt {
  const system = prompt.flatMap(({ role }, index) => (role === 'system' ? [index] : []));
  const others = prompt.flatMap(({ role }, index) => (role === 'system' ? [] : [index])).reverse();
  const kept: (KeptMessage | undefined)[] = [];
  const buffer = new Uint8Array(bytes);
  let room = bytes;
  let isCut = false;
  for (const index of [...system, ...others]) {
    const message = prompt[index];
    if (!message) continue;
    if (room === 0) {
      isCut = true;
      break;
    }
    const text = textOf(message);
    const { read, written } = encoder.encodeInto(text, buffer.subarray(0, room));
    isCut ||= read < text.length;
    // The next character needs more than is left.
    room = read < text.length ? 0 : room - written;
    kept[index] = { role: message.role, text: text.slice(0, read) };
  }
  const messages = kept.filter((message) => message !== undefined);
  return { messages, ...(isCut && { isCut }) };
}

const encoder = new TextEncoder();

type PromptMessage = LanguageModelV4Prompt[number];
type PromptPart = Exclude<PromptMessage['content'], string>[number];

const textOf = ({ content }: PromptMessage): string =>
  typeof content === 'string' ? content : content.map(partOf).join('\n');

function partOf(part: PromptPart): string {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text;
    case 'tool-call':
      return `[${part.toolName}] ${JSON.stringify(part.input)}`;
    case 'tool-result':
      return `[${part.toolName}] ${resultOf(part.output)}`;
    case 'file':
      return `[${part.mediaType}]`;
    default:
      return `[${part.type}]`;
  }
}

type Output = Extract<PromptPart, { type: 'tool-result' }>['output'];

function resultOf(output: Output): string {
  if (output.type === 'content')
    return output.value.map((each) => (each.type === 'text' ? each.text : `[${each.type}]`)).join('\n');
  if (output.type === 'execution-denied') return `denied${output.reason ? `: ${output.reason}` : ''}`;
  return typeof output.value === 'string' ? output.value : JSON.stringify(output.value);
}
