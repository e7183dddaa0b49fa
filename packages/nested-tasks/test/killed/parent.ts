import { connect, textOf } from '@batonjs/client';
import { nestedTasks, relayAll } from '@batonjs/nested-tasks';
import { completed, createAgentServer, failed, working } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { sqliteStore } from '@batonjs/store-sqlite';

/** An agent that calls another one, in a process that kills itself at the point that `DIE` names. */
const { PORT, DATABASE, CHILD, DIE, RESEND } = process.env as Record<string, string>;

const die = (): never => {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('The process is dead');
};

/** Sends a request, and dies before or after, or when the answer shows the end of the child. */
async function watched(
  request: Request,
  send: (request: Request) => Promise<Response> = fetch,
): Promise<Response> {
  const body = request.method === 'POST' ? await request.clone().text() : '';
  const isSend = body.includes('"SendStreamingMessage"') || body.includes('"message/stream"');
  const what = isSend ? (body.includes('"taskId"') && isAnswer(body) ? 'answer' : 'message') : '';
  if (DIE === `before the ${what}`) die();
  const response = await send(request);
  if (DIE === `after the ${what}`) die();
  if (DIE !== 'at the end' || !response.body) return response;
  const look = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (/COMPLETED/.test(Buffer.from(chunk).toString())) die();
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(look), response);
}

const isAnswer = (body: string): boolean => JSON.parse(body).params.message.taskId !== undefined;

const store = sqliteStore(DATABASE!);

/** An agent of this process, without idempotency, on the same store. It dies with its parent, and is run again with it. */
const local = createAgentServer({
  card: { name: 'Local', description: 'Is in the same process' },
  name: 'local',
  agent: async function* () {
    yield working('one');
    yield completed('Done here');
  },
  store,
  restart: 'rerun',
  timeouts: { leaseMs: 600 },
  logger: () => {},
});
const watchedLocal = { ...local, fetch: (request: Request) => watched(request, local.fetch) };

const parent = nestedTasks({
  agents: { local: watchedLocal },
  card: { name: 'Parent', description: 'Calls another agent' },
  connect: (url) => connect(url, { fetch: (request) => watched(request) }),
  unreachableMs: 5_000,
  async *agent(turn) {
    const first = textOf(turn.messages[0]);
    const options = { name: 'child', relay: relayAll, resend: RESEND === 'true' };
    // Another message in each attempt: the first one counts.
    const input = [{ text: first }, { data: { attempt: turn.attempt } }];
    const { task } = await turn.call(CHILD!, input, options);
    const isDone = task?.status.state === 'TASK_STATE_COMPLETED';
    yield isDone ? completed(textOf(task.status.message)) : failed('The child did not do it');
  },
});
const server = createAgentServer({
  ...parent,
  store,
  messages: { idempotency: true },
  timeouts: { leaseMs: 600 },
  logger: () => {},
});
const { url } = await listen(server, { port: Number(PORT) });
const { url: localUrl } = await listen(local);
console.log(`The local agent is at ${localUrl}/`);
console.log(`The parent is at ${url}`);
