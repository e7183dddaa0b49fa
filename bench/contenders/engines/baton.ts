import { completed, createAgentServer } from '@batonjs/server';
import { type StoreChoice, storeOf } from '../stores.ts';
import { options, resultOf, serve, step } from './engine.ts';

const server = createAgentServer({
  card: { name: 'Engine', description: 'Runs three steps' },
  store: storeOf(options as StoreChoice),
  restart: 'rerun',
  ...(options.lease && { timeouts: { leaseMs: options.lease } }),
  logger: () => {},
  agent: async function* (turn) {
    const one = await turn.step('one', () => step());
    const two = await turn.step('two', () => step(one));
    const three = await turn.step('three', () => step(two));
    yield completed(resultOf(three));
  },
});

async function call(method: string, path: string, body?: unknown): Promise<string> {
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
  const request = new Request(`http://localhost${path}`, { method, headers, body: JSON.stringify(body) });
  return (await server.fetch(request)).text();
}

interface Task {
  readonly id: string;
  readonly status: {
    readonly state: string;
    readonly message?: { readonly parts: readonly { text: string }[] };
  };
}

async function send(configuration?: unknown): Promise<Task> {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'go' }] };
  const answer = await call('POST', '/message:send', { message, configuration });
  const { task } = JSON.parse(answer) as { task?: Task };
  if (!task) throw new Error(`The send was refused: ${answer}`);
  return task;
}

function said({ status }: Task): string {
  if (status.state !== 'TASK_STATE_COMPLETED') throw new Error(`The task did not complete: ${status.state}`);
  return status.message!.parts[0]!.text;
}

serve({
  run: async () => said(await send()),
  begin: async () => (await send({ returnImmediately: true })).id,
  async result(id) {
    // Ends with the task.
    await call('POST', `/tasks/${id}:subscribe`);
    return said(JSON.parse(await call('GET', `/tasks/${id}`)) as Task);
  },
});
