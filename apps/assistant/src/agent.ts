import { type Agent, completed, failed, streamed, working } from '@batonjs/server';
import { type LanguageModel, streamText } from 'ai';
import { memoryOf } from './memory.ts';

/** Answers with a language model, which remembers the conversation: what was said and answered in this context. */
export const assistant = (model: LanguageModel): Agent =>
  async function* (turn) {
    yield working();
    const { textStream, finishReason } = streamText({
      model,
      instructions: 'You are a helpful assistant. Answer briefly.',
      messages: await memoryOf(turn),
      abortSignal: turn.signal,
      // Told below, to the client; the SDK would print it.
      onError() {},
    });
    let isWhole = false;
    try {
      yield* streamed('answer', textStream, { bytes: 256, ms: 50, signal: turn.signal });
      // The stream of a model that failed ends like one that is done.
      isWhole = (await finishReason) === 'stop';
    } catch (error) {
      // Canceled, or out of time: the server knows how the task ends.
      if (turn.signal.aborted) throw error;
    }
    yield isWhole ? completed() : failed(modelFailed);
  };

const modelFailed = {
  code: 'MODEL_FAILED',
  message: 'The language model did not give a whole answer',
  retryable: true,
};
