import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { builtProgram } from '../../../test/support/built-program.ts';

const program = await builtProgram(new URL('./server-process.ts', import.meta.url));

/** The agent of `server-process.ts`. */
export interface ServedProcess {
  readonly port: number;
  /** Bytes on the heap and outside of it, after garbage was collected. */
  memory(): Promise<number>;
  /** Kills it. */
  kill(): Promise<void>;
}

/** Starts the agent in a process of its own, until the test ends. Without a database, tasks are in its memory. */
export async function startProcess(database = '', port = 0): Promise<ServedProcess> {
  const child = fork(program, [database, String(port)], {
    execArgv: ['--disable-warning=ExperimentalWarning', '--expose-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  onTestFinished(kill);
  const bound = await next(child);
  return {
    port: bound,
    kill,
    memory() {
      child.send('memory');
      return next(child);
    },
  };
}

async function next(child: ChildProcess): Promise<number> {
  const heard = new AbortController();
  const ended = once(child, 'exit', heard).then(([code, signal]) => {
    throw new Error(`The server ended with ${code ?? signal}`);
  });
  try {
    const [message] = await Promise.race([once(child, 'message', heard), ended]);
    return message as number;
  } finally {
    heard.abort();
  }
}
