import { type Agent, append, artifact, completed, working } from '@batonjs/server';
import { chunkText, quoteText } from '../contenders/chunk-text.ts';

/** Does what the text says: `quote`, `chunks <how many>`, `steps <how many>`, or the `steps` of a `task` that tells nothing else. */
export const countedAgent: Agent = async function* ({ text, step }) {
  const [what, count] = text.split(' ');
  if (what !== 'task') yield working();
  if (what === 'quote') yield artifact('quote', quoteText);
  else if (what === 'chunks') {
    yield artifact('chunks', chunkText(0));
    for (let n = 1; n < Number(count); n++) yield append('chunks', chunkText(n));
  } else for (let n = 0; n < Number(count); n++) await step(`step ${n}`, () => n);
  yield completed();
};
