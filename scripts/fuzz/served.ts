import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { builtProgram } from '../../test/support/built-program.ts';
import type { Listening, Rested } from './server.ts';

export type StoreName = 'memory' | 'sqlite';

/** A server in a process of its own. */
export interface Served extends Listening {
  /** Waits until nothing is left to do. */
  rest(): Promise<Rested>;
  /** Has the server close; resolves when it begins to, and `closed` when it has. */
  close(): Promise<{ readonly closed: Promise<Rested> }>;
  /** Ends the process. */
  stop(): Promise<void>;
}

/** Starts a server. Rejects if it ends before it listens. */
export async function serve(store: StoreName): Promise<Served> {
  const child = fork(await builtProgram(new URL('./server.ts', import.meta.url)), [store], {
    execArgv: ['--disable-warning=ExperimentalWarning', '--expose-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const listening = await next<Listening>(child);
  return {
    ...listening,
    rest() {
      child.send('rest');
      return next<Rested>(child);
    },
    async close() {
      child.send('close');
      await next(child);
      return { closed: next<Rested>(child) };
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

async function next<Message>(child: ChildProcess): Promise<Message> {
  const heard = new AbortController();
  const ended = once(child, 'exit', heard).then(([code, signal]) => {
    throw new Error(`The server ended with ${code ?? signal}`);
  });
  try {
    const [message] = await Promise.race([once(child, 'message', heard), ended]);
    return message as Message;
  } finally {
    heard.abort();
  }
}
