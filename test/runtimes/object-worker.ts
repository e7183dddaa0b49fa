import { type Agent, artifact, completed, createAgentServer, inputRequired, working } from '@batonjs/server';
import { durableObjectStore, type ObjectStorage } from '@batonjs/store-sqlite/durable-object';

interface Env {
  readonly PUBLIC_URL: string;
  readonly Office: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
}

const clerk: Agent = async function* (turn) {
  const { text, attempt, signal } = turn;
  if (text === 'ask') return yield inputRequired('Which one?');
  yield working(`attempt ${attempt}`);
  if (text === 'sleep' && !turn.woken) return await turn.wakeAt(Date.now() + 1_500);
  // Runs until it is canceled or its process dies; another attempt is not as slow.
  if (text === 'slow' && attempt === 1)
    await new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  yield artifact('letter', `Dear ${text}`);
  yield completed();
};

/** Two agents in one object, on one store. */
export class Office {
  readonly #store;
  readonly #servers;

  constructor({ storage }: { readonly storage: ObjectStorage }, { PUBLIC_URL: publicUrl }: Env) {
    const store = durableObjectStore(storage, { recoverAfterMs: 500 });
    const serve = (name: string, restart: 'fail' | 'rerun') =>
      createAgentServer({
        card: { name, description: 'Writes letters' },
        name,
        agent: clerk,
        store,
        restart,
        timeouts: {
          // An object that starts ends the leases of the one before: nothing waits for so long.
          leaseMs: 600_000,
        },
        publicUrl: `${publicUrl}/${name}`,
        push: { allow: ['127.0.0.1:*'], retry: { baseDelayMs: 100, maxDelayMs: 200 } },
      });
    this.#store = store;
    this.#servers = { steady: serve('steady', 'rerun'), brittle: serve('brittle', 'fail') };
  }

  fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const { steady, brittle } = this.#servers;
    return (pathname.startsWith('/steady') ? steady : brittle).fetch(request);
  }

  alarm(): Promise<void> {
    return this.#store.alarm();
  }
}

export default {
  fetch: (request: Request, { Office }: Env) => Office.getByName('office').fetch(request),
};
