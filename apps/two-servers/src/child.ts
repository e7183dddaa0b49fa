import { fork } from 'node:child_process';
import { once } from 'node:events';

/** A child process that is ready. */
export interface Child {
  readonly name: string;
  /** Its address, if it listens. */
  readonly url: string;
  /** Sends SIGKILL. Resolves when the process has ended. */
  kill(): Promise<void>;
  /** Sends SIGTERM. Resolves to the exit code, once running work has finished. */
  stop(): Promise<number | null>;
}

/** Starts `file` beside this one. Rejects if it ends before it is ready. */
export async function startChild(file: string, name: string, env: Record<string, string>): Promise<Child> {
  const child = fork(new URL(file, import.meta.url), {
    env: { ...process.env, ...env, NAME: name },
    execArgv: ['--conditions=@batonjs/source'],
  });
  const ended = once(child, 'exit');
  const ready = await Promise.race([once(child, 'message'), ended.then(() => undefined)]);
  if (!ready) throw new Error(`${name} ended before it was ready`);
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    const [code] = await ended;
    return code;
  };
  return {
    name,
    url: (ready[0] as { url?: string }).url ?? '',
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
  };
}
