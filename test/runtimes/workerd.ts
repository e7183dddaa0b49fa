import { Miniflare } from 'miniflare';
import { onTestFinished } from 'vitest';
import { workerBundle } from './worker-bundle.ts';

/**
 * Bundles a module as wrangler does, without modules of Node.js, and serves its object `Greeter` in workerd until the
 * test ends.
 */
export async function serveInWorkerd(
  module: URL,
  { port, publicUrl }: { readonly port: number; readonly publicUrl: string },
): Promise<void> {
  const runtime = new Miniflare({
    modules: true,
    script: await workerBundle(module),
    compatibilityDate: '2026-07-01',
    host: '127.0.0.1',
    port,
    bindings: { PUBLIC_URL: publicUrl },
    durableObjects: { GREETER: 'Greeter' },
  });
  onTestFinished(() => runtime.dispose());
  await runtime.ready;
}
