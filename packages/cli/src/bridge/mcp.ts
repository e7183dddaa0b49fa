import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { isLoopback } from '@batonjs/protocol/headers';
import type { Command } from 'commander';
import { usage } from '../errors/cli-error.ts';
import { addAgentFlags, addExample, type CommonOptions, toCount, toTexts } from '../flags/agent-flags.ts';
import { toDuration } from '../flags/duration.ts';
import type { Run, RunContext } from '../run-context.ts';

interface McpFlags extends CommonOptions<'data', 'resend' | 'modelApproves'> {
  readonly http?: number;
  readonly host: string;
  readonly allowHost?: readonly string[];
  readonly wait: number;
  readonly pollInterval: number;
  readonly retention: number;
  readonly unreachable: number;
}

export function addMcp(program: Command, run: Run): void {
  const command = program
    .command('mcp')
    .description('serve any agent as an MCP server, with tasks that outlive this process and the host')
    .option(
      '--http <port>',
      'serve streamable HTTP at /mcp of this port instead of standard input',
      toCount(0),
    )
    .option(
      '--host <address>',
      'listen on this address, with --allow-host if it is not of this machine',
      '127.0.0.1',
    )
    .option('--allow-host <name>', 'a host name that requests may have; repeatable', toTexts)
    .option('--data <file>', 'keeps the tasks; default: a file of the agent in ~/.local/share/a2a-cli')
    .option('--wait <duration>', 'a call gives its handle after so long, or at once', toDuration, 0)
    .option('--poll-interval <duration>', 'how often hosts should read a task', toDuration, 1_000)
    .option('--retention <duration>', 'ended tasks are kept so long', toDuration, 168 * 3_600_000)
    .option(
      '--unreachable <duration>',
      'a task fails when the agent is out of reach for so long',
      toDuration,
      60_000,
    )
    .option('--resend', 'send a message again although the agent may have received it')
    .option('--model-approves', 'the model of the host may approve what the agent asks an approval for');
  addExample(addAgentFlags(command), 'mcp -a https://agent.example').action(run<McpFlags>(serve));
}

async function serve(context: RunContext<McpFlags>): Promise<void> {
  const { options, output, io } = context;
  const { http: port, host, allowHost: allowedHosts = [], wait: waitMs, retention: retentionMs } = options;
  const isLocal = isLoopback(host);
  if (port === undefined && (!isLocal || allowedHosts.length > 0))
    throw usage('--host and --allow-host need --http');
  if (!isLocal && allowedHosts.length === 0)
    throw usage(`--host ${host} needs --allow-host with the names that clients use`);
  if (retentionMs < 1_000) throw usage('--retention is a second or more');
  const agent = await context.agent();
  // What MCP needs takes a while to load.
  const { serveMcp } = await import('./serve-mcp.ts');
  const bridge = await serveMcp(agent, {
    data: options.data === undefined ? fileFor(agent.interface.url, io.home) : resolve(io.cwd, options.data),
    waitMs,
    pollIntervalMs: Math.max(1, Math.round(options.pollInterval)),
    retentionMs: Math.round(retentionMs),
    unreachableMs: options.unreachable,
    resend: options.resend ?? false,
    modelApproves: options.modelApproves ?? false,
    http: port === undefined ? undefined : { port, host, allowedHosts },
    logger: (level, message) => {
      if (level === 'error' || level === 'warn') output.note(message);
      else output.debug(message);
    },
    onError: (error) => output.note(error instanceof Error ? error.message : String(error)),
  });
  if (bridge.url !== undefined) output.result({ url: bridge.url }, [['URL', bridge.url]]);
  await untilEnded(io.signal, bridge.url === undefined);
  await bridge.close();
}

/** The file with the tasks of an agent. */
const fileFor = (url: string, home: string): string =>
  join(home, '.local/share/a2a-cli/mcp', `${createHash('sha256').update(url).digest('hex').slice(0, 32)}.db`);

/** Resolves at Ctrl-C or SIGTERM, and when the host closes standard input. */
async function untilEnded(signal: AbortSignal, ofInput: boolean): Promise<void> {
  const stop = new AbortController();
  const ended = [once(process, 'SIGTERM', { signal: stop.signal })];
  if (ofInput)
    ended.push(
      once(process.stdin, 'close', { signal: stop.signal }),
      once(process.stdin, 'end', { signal: stop.signal }),
    );
  if (!signal.aborted) ended.push(once(signal, 'abort', { signal: stop.signal }));
  await Promise.race(signal.aborted ? [] : ended);
  stop.abort();
}
