import { type Agent, completed, failed, streamed, working } from '@batonjs/server';
import { type LanguageModel, streamText } from 'ai';
import { memoryOf } from './memory.ts';

/** Answers with a language model, which remembers the conversation: what was said and answered in this context. */
export const assistant = (model: LanguageModel): Agent =>
  async function* (turn) {
    yield working();
    let failure: unknown;
    const { textStream } = streamText({
      model,
      instructions: 'You are a helpful assistant. Answer briefly.',
      messages: await memoryOf(turn),
      abortSignal: turn.signal,
      onError({ error }) {
        failure = error;
      },
    });
    yield* streamed('answer', textStream, { bytes: 256, ms: 50 });
    if (failure)
      return yield failed({
        code: 'MODEL_FAILED',
        message: 'The language model did not answer',
        retryable: true,
      });
    yield completed();
  };
