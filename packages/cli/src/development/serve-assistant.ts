import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { type AgentClient, ClientError, connect } from '@batonjs/client';
import { type Development, developmentMcp, NotRunning } from '@batonjs/mcp/internals';
import { forkTask } from '@batonjs/operator';
import { sleep } from '@batonjs/protocol/timing';
import { scopeOf } from '@batonjs/server/internals';
import type { TaskStore } from '@batonjs/store';
import { sqliteStore } from '@batonjs/store-sqlite';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Io } from '../io.ts';
import type { AgentProcess, Served } from './agent-process.ts';

/** How long a call waits for an agent that is being started again, in milliseconds. */
const startMs = 15_000;
/** How often it looks. */
const lookMs = 100;

/**
 * Serves tools for an assistant over the standard streams: the agent as it runs, its log, and the documentation beside it.
 * Resolves when the assistant has closed the streams, the signal aborts, or the process has ended.
 */
export async function serveAssistant(
  agentProcess: AgentProcess,
  served: Served,
  io: Io,
  onError: (error: unknown) => void,
): Promise<void> {
  let store: (TaskStore & { close(): Promise<void> }) | undefined;
  const opened = (): TaskStore => {
    store ??= sqliteStore(served.data);
    return store;
  };
  const scope = () => scopeOf(agentProcess.name, undefined, { scope: '' });
  const development: Development = {
    agent: () => agentOf(agentProcess, served),
    printed: () => agentProcess.printed,
    async entries(taskId, after, limit) {
      if (!existsSync(served.data)) return undefined;
      const tasks = opened();
      if (!(await tasks.load(scope(), taskId))) return undefined;
      return tasks.readFacts(scope(), taskId, after, limit);
    },
    fork: (taskId, { from, message }) =>
      forkTask({ store: opened(), name: agentProcess.name }, taskId, {
        from: /^\d+$/.test(from) ? Number(from) : from,
        by: 'assistant',
        message,
      }),
    docs: () => docsBeside(served.path),
    onError,
  };
  const stdin = Readable.from(io.stdin);
  const stdout = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      io.stdout.write(String(chunk));
      done();
    },
  });
  const transport = new StdioServerTransport(stdin, stdout);
  const serving = serveStdio(developmentMcp(development), { transport, onerror: onError });
  await new Promise<void>((resolve) => {
    stdin.once('end', resolve).once('close', resolve);
    void agentProcess.ended.then(() => resolve());
    io.signal.addEventListener('abort', () => resolve(), { once: true });
    if (io.signal.aborted) resolve();
  });
  await serving.close();
  stdin.destroy();
  await store?.close();
}

/** A client of the agent, once it has been started again after the last change of its file. */
async function agentOf(agentProcess: AgentProcess, { path }: Served): Promise<AgentClient> {
  const end = Date.now() + startMs;
  for (;;) {
    const isLate = Date.now() > end;
    const { url, state } = agentProcess;
    const isCurrent = agentProcess.startedAt >= changedAt(path) || isLate;
    if (isCurrent && state === 'failed') throw notRunning(agentProcess, 'The agent did not start.');
    if (isCurrent && state === 'serves' && url !== undefined) {
      const client = await connect(url).catch((error: unknown) => {
        // It may end at this moment, to be started again.
        if (isLate || !ClientError.is(error))
          throw notRunning(agentProcess, `The agent cannot be reached: ${(error as Error).message}.`);
        return undefined;
      });
      if (client) return client;
    } else if (isLate) throw notRunning(agentProcess, 'The agent has not started yet.');
    await sleep(lookMs);
  }
}

const changedAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

const notRunning = ({ printed }: AgentProcess, why: string): NotRunning => {
  const last = printed.slice(-40).join('\n');
  return new NotRunning(last ? `${why} It printed:\n${last}` : `${why} It printed nothing`);
};

/** The pages in the package of the server that the agent imports. */
function docsBeside(path: string): string | undefined {
  try {
    const main = createRequire(path).resolve('@batonjs/server');
    const folder = join(dirname(main), '../docs');
    return existsSync(folder) ? folder : undefined;
  } catch {
    // It is not installed.
    return undefined;
  }
}
