import { type Agent, append, artifact, completed, working } from '@batonjs/server';
import { chunkText, quoteText } from './chunk-text.ts';

/** Does what the text says: `quote`, or `chunks <how many>`. */
export const agent: Agent = async function* ({ text }) {
  const [what, count] = text.split(' ');
  yield working();
  if (what === 'quote') yield artifact('quote', quoteText);
  else if (what === 'chunks') {
    yield artifact('chunks', chunkText(0));
    for (let n = 1; n < Number(count); n++) yield append('chunks', chunkText(n));
  } else throw new Error(`What is ${what}?`);
  yield completed();
};
