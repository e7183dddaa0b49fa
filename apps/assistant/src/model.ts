import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModel } from 'ai';
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';

/**
 * The model that the environment names: `ASSISTANT_MODEL=openai/gpt-5-mini` with `AI_GATEWAY_API_KEY` for any provider of
 * the gateway; with `ASSISTANT_URL`, a model behind any server that speaks the API of OpenAI, and `ASSISTANT_KEY` if that
 * wants one. Without either, the SDK's mock model, which repeats the conversation.
 */
export function modelFrom(env: Readonly<Record<string, string | undefined>>): LanguageModel {
  const { ASSISTANT_URL: baseURL, ASSISTANT_KEY: apiKey, ASSISTANT_MODEL: model } = env;
  if (!baseURL) return model || mockModel();
  const provider = createOpenAICompatible({ name: 'assistant', baseURL, apiKey, includeUsage: true });
  return provider(model || 'default');
}

/** Whether `ASSISTANT_PROMPTS=yes` keeps what the model is asked, for those who may read it in an inspector. */
export const keepsPrompts = ({ ASSISTANT_PROMPTS }: Readonly<Record<string, string | undefined>>): boolean =>
  ASSISTANT_PROMPTS === 'yes';

/** A model that counts the messages and repeats them, a word at a time. */
export const mockModel = (chunkDelayInMs: number | null = 5): LanguageModel =>
  new MockLanguageModelV4({
    provider: 'mock',
    modelId: 'mock',
    doStream: async ({ prompt }) => {
      const said = prompt.flatMap(({ role, content }) =>
        role === 'user' ? content.map((part) => (part.type === 'text' ? part.text : '')).join('') : [],
      );
      const earlier = said.slice(0, -1).map((text) => `"${text}"`);
      const memory = earlier.length > 0 ? ` Before that: ${earlier.join(', ')}.` : '';
      const words = `You said "${said.at(-1)}".${memory}`.split(/(?<= )/);
      return {
        stream: simulateReadableStream({
          initialDelayInMs: null,
          chunkDelayInMs,
          chunks: [
            { type: 'stream-start', warnings: [] },
            { type: 'text-start', id: '1' },
            ...words.map((delta) => ({ type: 'text-delta' as const, id: '1', delta })),
            { type: 'text-end', id: '1' },
            {
              type: 'finish',
              finishReason: { unified: 'stop', raw: undefined },
              usage: usageOf(said.join(' ').split(' ').length, words.length),
            },
          ],
        }),
      };
    },
  });

/** A word is a token of this model. */
const usageOf = (input: number, output: number) => ({
  inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: output, text: output, reasoning: undefined },
});
