import type { Command } from 'commander';
import { addExample, addOutputFlags, type CommonOptions, toCount } from '../flags/agent-flags.ts';
import type { Run, RunContext } from '../run-context.ts';

type DemoFlags = CommonOptions & { readonly port: number };

export function addDemoServer(program: Command, run: Run): void {
  const command = program
    .command('demo-server')
    .alias('server')
    .description('serve an agent on this machine that echoes, to try things with')
    .option('--port <port>', 'listen on this port of loopback', toCount(0), 4000);
  addExample(addOutputFlags(command), 'demo-server --port 4000').action(run<DemoFlags>(serveDemo));
}

async function serveDemo({ options, output, io }: RunContext<DemoFlags>): Promise<void> {
  // The server takes a while to load.
  const { serveEcho } = await import('./echo-server.ts');
  const { url, close } = await serveEcho(options.port);
  output.result({ url }, [['URL', url]]);
  await new Promise<void>((resolve) => io.signal.addEventListener('abort', () => resolve()));
  await close();
}
