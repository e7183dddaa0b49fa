import { connect } from '@batonjs/client';
import { completed, createAgentServer, taskAgent, working } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import worker from '../frameworks/worker.ts';

export default worker;

/**
 * Serves an agent that goes on after its first update when `/go` is requested. `/ask` answers with the events that a client
 * in the same runtime saw.
 */
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
    const { origin, pathname } = new URL(request.url);
    if (pathname === '/go') {
      this.#gate.resolve();
      return new Response();
    }
    if (pathname !== '/ask') return this.#server.fetch(request);
    const agent = await connect(origin, { fetch: (asked) => this.#server.fetch(asked) });
    const events: unknown[] = [];
    for await (const event of agent.stream('go')) events.push(event);
    return Response.json(events);
  }
}
