import type { R2Binding } from '@batonjs/store-sqlite/durable-object';
import { Miniflare } from 'miniflare';
import { afterAll, onTestFinished } from 'vitest';
import { workerBundle } from './worker-bundle.ts';

/**
 * Bundles a module as wrangler does, without modules of Node.js, and serves its object `Greeter` in workerd, with a bucket
 * of R2, until the test ends.
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
    durableObjects: { GREETER: { className: 'Greeter', useSQLite: true } },
    r2Buckets: ['FILES'],
  });
  onTestFinished(() => runtime.dispose());
  await runtime.ready;
}

/** Empty buckets of R2, one after the other, as they are bound to a Worker, until the tests of the file end. */
export function bucketsInWorkerd(count: number): () => Promise<R2Binding> {
  const names = Array.from({ length: count }, (_, n) => `FILES_${n}`);
  const runtime = new Miniflare({ modules: true, script: 'export default {}', r2Buckets: [...names] });
  afterAll(() => runtime.dispose());
  return async () => (await runtime.getR2Bucket(names.pop()!)) as unknown as R2Binding;
}
