import { type StreamedAgentOptions, streamedAgent } from '@batonjs/ai-sdk';
import type { Agent, AgentServerOptions } from '@batonjs/server';
import { APICallError, type LanguageModel, streamText } from 'ai';

/** How often a model is asked again that is busy: the waits survive a crash, and `Retry-After` goes before them. */
export const retry: AgentServerOptions['retry'] = {
  retries: 5,
  backoff: { initialMs: 1_000, maxMs: 60_000 },
};

/** Answers with a language model, which reads the earlier messages and answers of the same context. */
export const assistant = (
  language: LanguageModel,
  { keepPrompts = false }: Pick<StreamedAgentOptions, 'keepPrompts'> = {},
): Agent =>
  streamedAgent(
    ({ messages, signal, model }) =>
      streamText({
        model: model(language),
        instructions: 'You are a helpful assistant. Answer briefly.',
        messages,
        abortSignal: signal,
        // `retry` of the server does that.
        maxRetries: 0,
        // The task fails with a message for the client. By default, the SDK would print the error.
        onError() {},
      }),
    {
      coalesce: { bytes: 256, ms: 50 },
      keepPrompts,
      // The turn is run again. Other errors fail the task.
      onError(error) {
        if (APICallError.isInstance(error) && error.isRetryable) throw error;
      },
    },
  );
