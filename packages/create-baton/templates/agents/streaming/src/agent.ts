import { type Agent, completed, failed, streamed, working } from '@batonjs/server';
import { type Model, modelFrom } from './model.ts';

export const card = {
  name: '{{title}}',
  description: 'Answers with a language model',
  version: '0.1.0',
  skills: [
    {
      id: 'answer',
      name: 'Answer',
      description: 'Answers a question',
      tags: ['chat'],
      examples: ['What can you do?', 'Write a haiku about the sea'],
    },
  ],
};

/** Streams the answer of a model. Every piece is in the store before a client sees it. */
export const answerWith = (model: Model): Agent =>
  async function* (turn) {
    yield working('Thinking');
    try {
      yield* streamed('answer', model(turn.text, turn.signal), { signal: turn.signal });
    } catch (error) {
      // Canceled, or the server closes: it ends the task, or runs it again.
      if (turn.signal.aborted) throw error;
      console.error(`The model failed: ${(error as Error).message}`);
      return yield failed({
        code: 'MODEL_FAILED',
        message: 'The model gave no whole answer',
        retryable: true,
      });
    }
    yield completed();
  };

export const agent = answerWith(modelFrom(process.env));
