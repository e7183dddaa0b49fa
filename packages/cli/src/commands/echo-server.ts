import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Agent,
  artifact,
  completed,
  createAgentServer,
  data,
  failed,
  inputRequired,
  working,
} from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';

/** Echoes. `ask`, `fail` and `slow` as the first word show a question, a failure and a task that takes a while. */
const echo: Agent = async function* ({ text, message, messages, signal }) {
  const isAnswer = messages.some(({ role }) => role === 'ROLE_AGENT');
  if (text.startsWith('ask') && !isAnswer) return yield inputRequired('What shall I echo?');
  if (text.startsWith('fail')) return yield failed({ code: 'ASKED_TO', message: 'You asked for a failure' });
  const steps = text.startsWith('slow') ? 5 : 1;
  for (let n = 1; n <= steps; n++) {
    yield working(`Step ${n} of ${steps}`);
    if (steps > 1) await sleep(500, undefined, { signal });
  }
  const values = message.parts.flatMap((part) => ('data' in part ? [part.data] : []));
  yield artifact('echo', values.length > 0 ? data(values) : text);
  yield completed();
};

/** Serves the agent on loopback, with tasks in memory. */
export function serveEcho(port: number): ReturnType<typeof listen> {
  const server = createAgentServer({
    card: { name: 'Echo', description: 'Says it again. Begin with ask, fail or slow to see more.' },
    agent: echo,
    store: memoryStore(),
  });
  return listen(server, { port });
}
