import { type Agent, append, artifact, completed, taskAgent, text, working } from '../../../src/index.ts';
import type { PushOptions } from '../../../src/webhooks/webhooks.ts';

/** Every event that a webhook may get. */
export const chatty: Agent = taskAgent(async function* ({ text: said }) {
  yield working(said);
  yield artifact('essay', text('once'));
  yield append('essay', text('upon'));
  yield append({ artifactId: 'essay', lastChunk: true }, text('a time'));
  yield completed();
});

/** What `chatty` is heard to say by default. */
export const heard = ['WORKING', 'essay:once', 'essay:a time', 'COMPLETED'];

export const quick: PushOptions = {
  allow: ['127.0.0.1:*'],
  timeoutMs: 10_000,
  retry: { baseDelayMs: 5, maxDelayMs: 20, maxAttempts: 1_000_000 },
};
