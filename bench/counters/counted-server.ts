import { createAgentServer } from '@batonjs/server';
import type { TaskStore } from '../contenders/stores.ts';
import { countedAgent } from './counted-agent.ts';

/** A server in this process. Sends it a message, and reads the answer to its end. */
export function countedServer(store: TaskStore): (text: string, streams: boolean) => Promise<void> {
  const server = createAgentServer({
    card: { name: 'Counted', description: 'Does what it is told' },
    agent: countedAgent,
    store,
    // A busy machine lets the event loop go on more often, and streams then read fewer events at once.
    clock: { monotonic: () => 0 },
    logger: () => {},
  });
  return async (text, streams) => {
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] };
    const response = await server.fetch(
      new Request(`http://localhost/message:${streams ? 'stream' : 'send'}`, {
        method: 'POST',
        headers: { 'content-type': 'application/a2a+json', 'a2a-version': '1.0' },
        body: JSON.stringify({ message }),
      }),
    );
    const answered = await response.text();
    if (!answered.includes('TASK_STATE_COMPLETED')) throw new Error(`The task did not complete: ${answered}`);
  };
}
