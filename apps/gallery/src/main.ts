import { pathToFileURL } from 'node:url';
import { supervise } from './supervisor/supervise.ts';

// The server runs in a child, so that it may be killed, and this process starts it again. Only on loopback: elsewhere this
// process is the server.
const env = process.env;
if (env.BATON_GALLERY_CHILD) await serve((message) => process.send?.(message));
else if (/^(|localhost|127\.\d+\.\d+\.\d+|::1)$/.test(env.HOST ?? ''))
  await supervise(pathToFileURL(process.argv[1] ?? ''), env);
else await serve();

async function serve(report?: (message: object) => void): Promise<void> {
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
