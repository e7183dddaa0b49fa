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
import type { Command } from 'commander';
import { addOutputFlags, type CommonOptions } from '../flags/agent-flags.ts';
import { toCount } from '../flags/key-values.ts';
import type { Run } from '../run.ts';
import type { RunContext } from '../run-context.ts';

interface DemoFlags extends CommonOptions {
  readonly port: number;
}

export function addDemoServer(program: Command, run: Run): void {
  const command = program
    .command('demo-server')
    .alias('server')
    .description('serve an agent on this machine that echoes, to try things with')
    .option('--port <port>', 'listen on this port of loopback', toCount(0), 4000);
  addOutputFlags(command)
    .addHelpText('after', '\nExample:\n  $ baton demo-server --port 4000\n')
    .action(run<DemoFlags>(serveDemo));
}

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

async function serveDemo({ options, output, io }: RunContext<DemoFlags>): Promise<void> {
  const server = createAgentServer({
    card: { name: 'Echo', description: 'Says it again. Begin with ask, fail or slow to see more.' },
    agent: echo,
    store: memoryStore(),
  });
  const { url, close } = await listen(server, { port: options.port });
  if (output.isJson) output.json({ url });
  else output.field('URL', url);
  await new Promise<void>((resolve) => io.signal.addEventListener('abort', () => resolve()));
  await close();
}
