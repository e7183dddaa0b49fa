import { type Agent, artifact, completed, createAgentServer, working } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';

interface Env {
  readonly PUBLIC_URL: string;
  readonly GREETER: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
}

const greet: Agent = async function* ({ text }) {
  yield working('Thinking of a greeting');
  yield artifact('greeting', `Hello, ${text}!`);
  yield completed();
};

export class Greeter {
  readonly #server: { fetch(request: Request): Promise<Response> };

  constructor(_state: unknown, { PUBLIC_URL: publicUrl }: Env) {
    const card = { name: 'Greeter', description: 'Says hello' };
    this.#server = createAgentServer({ card, agent: greet, store: memoryStore(), publicUrl });
  }

  fetch(request: Request): Promise<Response> {
    return this.#server.fetch(request);
  }
}

export default {
  fetch: (request: Request, { GREETER }: Env) => GREETER.getByName('greeter').fetch(request),
};
