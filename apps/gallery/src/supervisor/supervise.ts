import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { keptToken } from './kept-token.ts';

/** What the child reports to its parent. */
interface FromChild {
  readonly url?: string;
  readonly isKillAskedFor?: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Killed more often than this in so many milliseconds, the server is not started again. */
const mostKills = 10;
const killsWithinMs = 30_000;

/**
 * Runs the server of the gallery in a child, and starts it again at the same port with the same token whenever it is
 * killed: by the button of the inspector, or by hand. Resolves when it ended in another way.
 */
export async function supervise(program: URL, env: Environment): Promise<void> {
  const token = env.BATON_INSPECTOR_TOKEN || keptToken(env.BATON_DATA || '.data');
  const shared = { ...env, BATON_INSPECTOR_TOKEN: token };
  let child: ChildProcess | undefined;
  let port = env.PORT;
  let hasServed = false;
  const passedOn = new Set<NodeJS.Signals | null>();
  // A terminal sends its signals to both processes; the child takes a second one for the same.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      passedOn.add(signal);
      child?.kill(signal);
    });
  }
  // Neither stays behind when the process that started them was killed.
  process.on('disconnect', () => {
    child?.kill('SIGKILL');
    process.exit(1);
  });
  process.channel?.unref();
  const kills: number[] = [];
  for (let run = 'first'; ; run = 'again') {
    child = fork(program, { env: { ...shared, BATON_GALLERY_CHILD: run, ...(port && { PORT: port }) } });
    child.on('message', ({ url, isKillAskedFor }: FromChild) => {
      // Started again, it keeps the port that it took first.
      if (url !== undefined) port = new URL(url).port;
      if (url !== undefined) hasServed = true;
      if (isKillAskedFor) child?.kill('SIGKILL');
    });
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    // It stopped as it was asked to: the second signal may come when it has closed and takes none any more.
    if (passedOn.has(signal)) return;
    kills.push(Date.now());
    const isOften = Date.now() - (kills.at(-mostKills - 1) ?? Number.NEGATIVE_INFINITY) < killsWithinMs;
    if (signal && hasServed && passedOn.size === 0 && !isOften) {
      process.stdout.write(`The server was ended by ${signal}. It is started again …\n`);
      continue;
    }
    if (signal) process.kill(process.pid, signal);
    process.exitCode = code ?? 1;
    return;
  }
}
