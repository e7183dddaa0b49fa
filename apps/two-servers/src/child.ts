import { fork } from 'node:child_process';
import { once } from 'node:events';

/** A process of ours that is ready. */
export interface Child {
  readonly name: string;
  /** Where it listens, if it does. */
  readonly url: string;
  /** SIGKILL. Resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM. Resolves to its exit code, once it has let finish what runs. */
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
