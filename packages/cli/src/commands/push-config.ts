import { createServer } from 'node:http';
import type { TaskPushNotificationConfig } from '@batonjs/protocol';
import { BARE_NOTIFICATION_TOKEN, NOTIFICATION_TOKEN } from '@batonjs/protocol/headers';
import { readText } from '@batonjs/protocol/json';
import type { Command } from 'commander';
import {
  addAgentFlags,
  addExample,
  addOutputFlags,
  addStreamFlag,
  type CommonOptions,
  toCount,
} from '../flags/agent-flags.ts';
import { showEvent } from '../output/render.ts';
import { interrupted, type Run, type RunContext } from '../run-context.ts';

type PushFlags = CommonOptions<'url' | 'id' | 'token'> & { readonly port: number; readonly count?: number };

export function addPushConfig(task: Command, run: Run): void {
  const push = task.command('push-config').description('webhooks of a task');
  const add = (name: string, description: string) =>
    push.command(name).description(description).argument('<task-id>', 'the id of the task');
  const action = (command: Command, line: string) => addExample(command, `task push-config ${line}`);

  action(
    addAgentFlags(
      add('create', 'let the agent call a URL about a task')
        .requiredOption('--url <url>', 'where the agent sends updates')
        .option('--id <id>', 'the id of the webhook')
        .option('--token <token>', 'sent with every update, so that the receiver knows the sender'),
    ),
    'create -a localhost:4000 3f2a… --url https://me.example/hook',
  ).action(run<PushFlags>(create));
  action(
    addAgentFlags(add('get', 'show a webhook').argument('<config-id>', 'the id of the webhook')),
    'get -a localhost:4000 3f2a… hook-1',
  ).action(run<PushFlags>(get));
  action(addAgentFlags(add('list', 'list the webhooks of a task')), 'list -a localhost:4000 3f2a…').action(
    run<PushFlags>(list),
  );
  action(
    addAgentFlags(add('delete', 'delete a webhook').argument('<config-id>', 'the id of the webhook')),
    'delete -a localhost:4000 3f2a… hook-1',
  ).action(run<PushFlags>(remove));
  action(
    addStreamFlag(
      addOutputFlags(
        push
          .command('receive')
          .description('receive updates on this machine, and show them')
          .option('--port <port>', 'listen on this port of loopback', toCount(0), 0)
          .option('--token <token>', 'refuse updates without this token')
          .option('--count <n>', 'end after so many updates', toCount(1)),
      ),
    ),
    'receive --port 9000 --token secret',
  ).action(run<PushFlags>(receive));
}

const fieldsOf = ({ taskId = '', id = '', url }: TaskPushNotificationConfig) =>
  [
    ['Task ID', taskId],
    ['Config ID', id],
    ['URL', url],
  ] as const;

async function create(context: RunContext<PushFlags>, taskId: string): Promise<void> {
  const { url = '', id, token } = context.options;
  context.redactor.hide(token);
  const config = await context.call((agent, signal) =>
    agent.createTaskPushNotificationConfig({ taskId, url, id, token }, { signal }),
  );
  context.output.result(config, fieldsOf(config));
}

async function get(context: RunContext<PushFlags>, taskId: string, id: string): Promise<void> {
  const config = await context.call((agent, signal) =>
    agent.getTaskPushNotificationConfig({ taskId, id }, { signal }),
  );
  context.output.result(config, fieldsOf(config));
}

async function list(context: RunContext<PushFlags>, taskId: string): Promise<void> {
  const reply = await context.call((agent, signal) =>
    agent.listTaskPushNotificationConfigs({ taskId }, { signal }),
  );
  const { configs = [] } = reply;
  context.output.result(reply, [...configs.flatMap(fieldsOf), ['Configs', configs.length]]);
}

async function remove(context: RunContext<PushFlags>, taskId: string, id: string): Promise<void> {
  await context.call((agent, signal) => agent.deleteTaskPushNotificationConfig({ taskId, id }, { signal }));
  context.output.result({}, [
    ['Task ID', taskId],
    ['Deleted', id],
  ]);
}

/** Bytes of one update. */
const largest = 16 * 1_048_576;

/** Shows updates until there are enough, or until Ctrl-C. */
async function receive(context: RunContext<PushFlags>): Promise<void> {
  const { options, output, io } = context;
  const { port, token, count = Number.POSITIVE_INFINITY } = options;
  // Each update is a document of its own.
  output.isStreaming = true;
  let received = 0;
  const enough = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    const given =
      request.headers[NOTIFICATION_TOKEN.toLowerCase()] ??
      request.headers[BARE_NOTIFICATION_TOKEN.toLowerCase()];
    const isRefused = token !== undefined && given !== token;
    if (request.method !== 'POST' || isRefused) return void response.writeHead(isRefused ? 401 : 405).end();
    try {
      const body = await readText(request.iterator({ destroyOnReturn: false }), largest);
      if (body === undefined) return void response.writeHead(413, { connection: 'close' }).end();
      showEvent(output, JSON.parse(body));
      response.writeHead(200).end();
      received += 1;
    } catch {
      response.writeHead(400).end();
    }
    if (received >= count) enough.resolve();
  });
  io.signal.addEventListener('abort', () => enough.resolve());
  await new Promise<void>((resolve, reject) =>
    server.once('error', reject).listen(port, '127.0.0.1', resolve),
  );
  const { port: actual } = server.address() as { port: number };
  output.note(`Listening at http://127.0.0.1:${actual}`);
  await enough.promise;
  if (received < count && Number.isFinite(count)) context.exitCode = interrupted;
  server.close();
  server.closeIdleConnections();
}
