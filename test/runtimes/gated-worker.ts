import { completed, createAgentServer, taskAgent, working } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import worker from '../frameworks/worker.ts';

export default worker;

/** Serves an agent that goes on after its first update when `/go` is requested. */
export class Greeter {
  readonly #gate = Promise.withResolvers<void>();
  readonly #server: { fetch(request: Request): Promise<Response> };

  constructor(_state: unknown, { PUBLIC_URL: publicUrl }: { readonly PUBLIC_URL: string }) {
    const gate = this.#gate.promise;
    this.#server = createAgentServer({
      card: { name: 'Gated', description: 'Waits at a gate' },
      agent: taskAgent(async function* ({ text }) {
        yield working('before');
        if (text === 'wait') await gate;
        yield working('after');
        yield completed();
      }),
      store: memoryStore(),
      publicUrl,
      push: { allow: ['127.0.0.1:*'] },
    });
  }

  async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname !== '/go') return this.#server.fetch(request);
    this.#gate.resolve();
    return new Response();
  }
}
