import {
  type Agent,
  append,
  artifact,
  authRequired,
  completed,
  inputRequired,
  working,
} from '@batonjs/server';
import { untilAborted } from '../kit/until-aborted.ts';

/**
 * An agent that writes a chunk, waits for the test, and writes the rest; each chunk once, however often it runs. `deaf`
 * goes on after its signal the first time.
 */
export function chunks() {
  const released = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  const runs: string[] = [];
  const agent: Agent = async function* ({ text, signal, task, step }) {
    runs.push(text);
    if (text === 'ask') return yield inputRequired('Well?');
    if (text === 'sign in') return yield authRequired('Who are you?');
    if (!task?.artifacts?.length) {
      yield working();
      yield artifact('a', '1');
    }
    if (text === 'deaf' && runs.length === 1) {
      await untilAborted(signal);
      aborted.resolve();
      await released.promise;
    }
    await Promise.race([released.promise, untilAborted(signal)]);
    signal.throwIfAborted();
    await step('charge', () => void runs.push('charged'));
    yield append('a', '2');
    yield completed();
  };
  return { agent, runs, aborted: aborted.promise, release: released.resolve };
}
