import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModel } from 'ai';
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test';

/**
 * The model of an API like OpenAI's, such as `MODEL_URL=http://127.0.0.1:11434/v1` of Ollama, with `MODEL_NAME` and
 * `MODEL_API_KEY`. Without `MODEL_URL`, one that says again what it was told. Any other model of the AI SDK fits here.
 */
export function modelFrom({
  MODEL_URL,
  MODEL_NAME = 'default',
  MODEL_API_KEY,
}: NodeJS.ProcessEnv): LanguageModel {
  if (!MODEL_URL) return echo;
  const provider = createOpenAICompatible({
    name: 'model',
    baseURL: MODEL_URL,
    ...(MODEL_API_KEY && { apiKey: MODEL_API_KEY }),
  });
  return provider(MODEL_NAME);
}

const echo = new MockLanguageModelV4({
  doStream: async ({ prompt }) => {
    const last = prompt.findLast(({ role }) => role === 'user');
    const parts = last?.role === 'user' ? last.content : [];
    const said = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
    return {
      stream: convertArrayToReadableStream([
        { type: 'text-start', id: 'text' },
        { type: 'text-delta', id: 'text', delta: `You said: ${said}` },
        { type: 'text-end', id: 'text' },
        { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage },
      ]),
    };
  },
});

const usage = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
};
