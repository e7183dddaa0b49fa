import { createServer } from 'node:http';
import { join } from 'node:path';
import { agUiHandler } from '@batonjs/ag-ui';
import { append, artifact, completed, createAgentServer, inputRequired, working } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it, onTestFinished } from 'vitest';
import { linesOf, versions } from '../../../packages/ag-ui/test/clients.ts';
import { listen } from '../../kit/listen.ts';
import { freePort, node, run } from '../../kit/processes.ts';

it('the runtime of CopilotKit passes an agent on to its pages: text, a question, and the answer', async () => {
  const server = createAgentServer({
    card: { name: 'Counter', description: 'Counts' },
    async *agent({ text, messages }) {
      yield working('Thinking');
      if (messages.length === 1) {
        yield artifact('answer', 'One, ');
        yield append('answer', 'two');
        return yield inputRequired('How far?');
      }
      yield artifact('rest', `to ${text}`);
      yield completed();
    },
    store: memoryStore(),
    logger: () => {},
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const AGENT = await listen(createServer(nodeHandler(agUiHandler(server))));
  const PORT = String(await freePort());
  await using runtime = run(node, [join(import.meta.dirname, 'copilotkit/runtime.mjs')], {
    env: { PORT, AGENT, COPILOTKIT_TELEMETRY_DISABLED: 'true' },
  });
  await runtime.until(/The runtime listens/);
  const base = `http://127.0.0.1:${PORT}/api/copilotkit`;
  const info = await (await fetch(`${base}/info`)).json();
  expect(info).toMatchObject({ agents: { default: {} } });

  // The client that its pages have.
  const [, open] = versions.find(([version]) => version === '0.0.59')!;
  const front = open(`${base}/agent/default/run`, 'thread-copilotkit');
  front.say('Count');
  await front.run();
  expect(linesOf(front)).toEqual(['user: Count', 'assistant: One, two', 'assistant: How far?']);
  const { outcome } = front.events.at(-1) as never as { outcome: { interrupts: { id: string }[] } };
  const [{ id: interruptId } = { id: '' }] = outcome.interrupts;
  await front.run({ resume: [{ interruptId, status: 'resolved', payload: 'ten' }] });
  expect(linesOf(front).at(-1)).toBe('assistant: to ten');
});
