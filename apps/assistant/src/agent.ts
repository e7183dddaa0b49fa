import { streamedAgent } from '@batonjs/ai-sdk';
import type { Agent } from '@batonjs/server';
import { type LanguageModel, streamText } from 'ai';

/** Answers with a language model, which reads the earlier messages and answers of the same context. */
export const assistant = (language: LanguageModel): Agent =>
  streamedAgent(
    ({ messages, signal, model }) =>
      streamText({
        model: model(language),
        instructions: 'You are a helpful assistant. Answer briefly.',
        messages,
        abortSignal: signal,
        // The task fails with a message for the client. By default, the SDK would print the error.
        onError() {},
      }),
    { coalesce: { bytes: 256, ms: 50 } },
  );
