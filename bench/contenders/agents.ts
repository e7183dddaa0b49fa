import { type Agent, append, artifact, completed, emitting, working } from '@batonjs/server';
import { chunkText, quoteText } from './chunk-text.ts';
import { produced } from './produced.ts';

let go = Promise.withResolvers<void>();

let waiting = 0;

/** How many wait with `ticks`. */
export const waitingAgents = (): number => waiting;

/** Lets those who wait with `ticks` begin. */
export function start(): void {
  waiting = 0;
  go.resolve();
  go = Promise.withResolvers();
}

/** Does what the text says: `quote`, `chunks <how many>`, or `ticks <how many> <every so many milliseconds>`. */
export const agent: Agent = async function* ({ text }) {
  const [what, count, everyMs] = text.split(' ');
  yield working();
  if (what === 'quote') yield artifact('quote', quoteText);
  else if (what === 'chunks') {
    yield artifact('chunks', chunkText(0));
    for (let n = 1; n < Number(count); n++) yield append('chunks', chunkText(n));
  } else if (what === 'ticks') {
    waiting++;
    await go.promise;
    for await (const tick of produced(Number(count), Number(everyMs)))
      yield tick.startsWith('0 ') ? artifact('ticks', tick) : append('ticks', tick);
  } else throw new Error(`Unknown task: ${what}`);
  yield completed();
};

/** Does `chunks <how many>`, waiting now and then: as executors of the official SDK publish, which wait for nothing. */
export const emittingAgent: Agent = emitting(async (emit, { text }) => {
  void emit(working());
  for (let n = 0; n < Number(text.split(' ')[1]); n++) {
    const emitted = emit(n === 0 ? artifact('chunks', chunkText(n)) : append('chunks', chunkText(n)));
    if (n % 512 === 511) await emitted;
  }
  await emit(completed());
});
