import { artifact, type Logger, type Turn, working } from '@batonjs/server';
import { untilAborted } from '../kit/until-aborted.ts';

/** An agent that says what it was told and works until it is canceled, or fails at once. */
export async function* erasedAgent({ text, signal }: Turn) {
  yield artifact('said', text);
  if (text.startsWith('fail')) throw new Error('Broken');
  yield working();
  await untilAborted(signal);
}

/** The options of each process that erases. `errors`: the lines of its log that say that something is wrong. */
export const erasingOptions = (errors: string[]) => ({
  card: { name: 'Test', description: 'For tests' },
  agent: erasedAgent,
  logger: ((level, message) => {
    if (level === 'error' && message !== 'An agent failed') errors.push(message);
  }) satisfies Logger,
});
