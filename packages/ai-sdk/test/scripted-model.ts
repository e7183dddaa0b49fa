import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { MockLanguageModelV4 } from 'ai/test';

type Part = LanguageModelV4StreamPart;

/** What a model answers: parts of its stream; `hang` after which nothing comes. */
export type Scripted = readonly (Part | 'hang')[];

/** A model in this process whose answers are scripted. It keeps the prompts. */
export const scriptedModel = (...answers: readonly Scripted[]): MockLanguageModelV4 => {
  let count = 0;
  return new MockLanguageModelV4({
    doStream: async () => {
      const parts = answers[count++] ?? [];
      return { stream: new ReadableStream({ start: (controller) => write(parts, controller) }) };
    },
  });
};

export const text = (delta: string): Part[] => [
  { type: 'text-start', id: 'text' },
  { type: 'text-delta', id: 'text', delta },
  { type: 'text-end', id: 'text' },
];

export const reasoning = (delta: string): Part[] => [
  { type: 'reasoning-start', id: 'reasoning' },
  { type: 'reasoning-delta', id: 'reasoning', delta },
  { type: 'reasoning-end', id: 'reasoning' },
];

export const call = (toolCallId: string, toolName: string): Part => ({
  type: 'tool-call',
  toolCallId,
  toolName,
  input: '{}',
});

export const image = (bytes: string): Part => ({
  type: 'file',
  mediaType: 'image/png',
  data: { type: 'data', data: btoa(bytes) },
});

export const source = (id: string): Part => ({
  type: 'source',
  sourceType: 'url',
  id,
  url: `https://example.com/${id}`,
});

/** One line for each part of a prompt: the role, and the text, the call or the result. */
export const linesOf = ({ doStreamCalls }: MockLanguageModelV4, number: number): string[] =>
  doStreamCalls[number - 1]!.prompt.flatMap(({ role, content }) =>
    typeof content === 'string' ? [`${role}: ${content}`] : content.map((part) => `${role}: ${lineOf(part)}`),
  );

function lineOf(part: object): string {
  const { text, toolCallId, output } = part as {
    text?: string;
    toolCallId?: string;
    output?: { value?: unknown; reason?: string };
  };
  return text ?? [toolCallId, output?.value ?? output?.reason].filter(Boolean).join(' ');
}

function write(parts: Scripted, controller: ReadableStreamDefaultController<Part>): void {
  for (const part of parts) {
    if (part === 'hang') return;
    controller.enqueue(part);
  }
  const calls = parts.some((part) => part !== 'hang' && part.type === 'tool-call');
  controller.enqueue({
    type: 'finish',
    finishReason: { unified: calls ? 'tool-calls' : 'stop', raw: undefined },
    usage: {
      inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 1, text: 1, reasoning: undefined },
    },
  });
  controller.close();
}
