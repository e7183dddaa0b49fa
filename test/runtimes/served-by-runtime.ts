import { createAgentServer, reply } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';

/** What this program uses of the servers of Bun and Deno, as `Deno.serve` has it. */
interface Runtime {
  readonly Bun?: {
    serve(options: { port: number; hostname: string; fetch(request: Request): Promise<Response> }): unknown;
  };
  readonly Deno?: {
    serve(
      options: { port: number; hostname: string },
      fetch: (request: Request) => Promise<Response>,
    ): unknown;
  };
}

// A program of its own: serves an agent by `server.fetch` on the server of the runtime that runs it.
const echo = createAgentServer({
  card: { name: 'Echo', description: 'Says it again' },
  agent: ({ text }) => reply(text),
  store: memoryStore(),
});
const { Bun, Deno } = globalThis as Runtime;
const address = { port: Number(process.env.PORT), hostname: '127.0.0.1' };
if (Bun) Bun.serve({ ...address, fetch: (request) => echo.fetch(request) });
else Deno?.serve(address, (request) => echo.fetch(request));
console.log('serving');
