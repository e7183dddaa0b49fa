import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';

// The server runs in a child, so that the inspector can kill it with SIGKILL and this process can start it again. Only on
// loopback: elsewhere there is no such button, and this process is the server.
const env = process.env;
if (env.BATON_GALLERY_CHILD) await serve((message) => process.send?.(message));
else if (/^(|localhost|127\.\d+\.\d+\.\d+|::1)$/.test(env.HOST ?? '')) await supervise();
else await serve();

/** What the child reports to its parent. */
interface FromChild {
  readonly url?: string;
  readonly isKillAskedFor?: boolean;
}

async function serve(report?: (message: FromChild) => void): Promise<void> {
  const [{ agentsAt }, { startGallery }] = await Promise.all([
    import('./agents.ts'),
    import('./start-gallery.ts'),
  ]);
  // A server without the parent that could end it must not stay behind.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  await startGallery(agentsAt, env, {
    isAgain: env.BATON_GALLERY_CHILD === 'again',
    ...(report && {
      onUrl: (url) => report({ url }),
      kill: () => report({ isKillAskedFor: true }),
    }),
  });
  // An open channel would keep the process alive after the gallery was closed.
  process.channel?.unref();
}

async function supervise(): Promise<void> {
  const shared = {
    ...env,
    BATON_INSPECTOR_TOKEN: env.BATON_INSPECTOR_TOKEN || randomBytes(24).toString('base64url'),
  };
  let child: ChildProcess | undefined;
  let port = env.PORT;
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
  for (let run = 'first'; ; run = 'again') {
    let isKilled = false;
    child = fork(new URL(import.meta.url), {
      env: { ...shared, BATON_GALLERY_CHILD: run, ...(port && { PORT: port }) },
    });
    child.on('message', ({ url, isKillAskedFor }: FromChild) => {
      // Started again, it keeps the port that it took first.
      if (url !== undefined) port = new URL(url).port;
      if (!isKillAskedFor) return;
      isKilled = true;
      child?.kill('SIGKILL');
    });
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    if (isKilled) continue;
    // It stopped as it was asked to: the second signal may come when it has closed and takes none any more.
    if (passedOn.has(signal)) return;
    if (signal) process.kill(process.pid, signal);
    process.exitCode = code ?? 1;
    return;
  }
}
