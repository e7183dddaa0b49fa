import { SCHEDULING } from '@batonjs/protocol/headers';
import { type Agent, completed, working } from '@batonjs/server';
import { frequentPolls } from '../kit/frequent-polls.ts';

/** Says which process took the message, and after which sleep. */
export const laterAgent: Agent = async function* ({ text, wakeAt, woken }) {
  if (text === 'sleep' && !woken) {
    yield working('Sleeping');
    return await wakeAt(Date.now() + laterMs);
  }
  yield completed(`${woken ? 'woken' : 'started'} in ${process.pid}`);
};

/** Long enough for a process to accept a message and be killed before. */
export const laterMs = 4_000;

export const laterOptions = {
  card: {
    name: 'Test',
    description: 'For tests',
    capabilities: { extensions: [{ uri: SCHEDULING }] },
  },
  agent: laterAgent,
  clock: frequentPolls(300),
};
