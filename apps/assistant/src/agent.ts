import { type Agent, completed, failed, streamed, working } from '@batonjs/server';
import { type LanguageModel, streamText } from 'ai';
import { memoryOf } from './memory.ts';

/** Answers with a language model, which reads the earlier messages and answers of the same context. */
export const assistant = (model: LanguageModel): Agent =>
  async function* (turn) {
    yield working();
    const { textStream, finishReason } = streamText({
      model,
      instructions: 'You are a helpful assistant. Answer briefly.',
      messages: await memoryOf(turn),
      abortSignal: turn.signal,
      // The failure below reports it to the client. By default, the SDK would print it.
      onError() {},
    });
    let isWhole = false;
    try {
      yield* streamed('answer', textStream, { bytes: 256, ms: 50, signal: turn.signal });
      // The stream of a model that failed ends like a complete one, so the finish reason decides.
      isWhole = (await finishReason) === 'stop';
    } catch (error) {
      // Canceled or out of time: the server ends the task.
      if (turn.signal.aborted) throw error;
    }
    yield isWhole ? completed() : failed(modelFailed);
  };

const modelFailed = {
  code: 'MODEL_FAILED',
  message: 'The language model did not give a whole answer',
  retryable: true,
};
