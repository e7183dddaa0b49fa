import { type Opened, pushConfigChecks, runCheck, taskStoreChecks } from '@batonjs/store-conformance/checks';
import { type DurableObjectStore, durableObjectStore, type ObjectStorage } from '../../src/durable-object.ts';

interface Env {
  readonly Subject: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
}

const checks = { tasks: taskStoreChecks, webhooks: pushConfigChecks };

/** An object for one check, with two stores on its storage. */
export class Subject {
  readonly #storage: ObjectStorage;
  readonly #store: DurableObjectStore;

  constructor({ storage }: { readonly storage: ObjectStorage }) {
    this.#storage = storage;
    this.#store = durableObjectStore(storage);
  }

  #open(): Opened<DurableObjectStore> {
    const store = this.#store;
    const reopen = async () => {
      await store.close();
      return durableObjectStore(this.#storage);
    };
    return { store, second: durableObjectStore(this.#storage), reopen };
  }

  async fetch(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const check = checks[searchParams.get('port') as keyof typeof checks][Number(searchParams.get('check'))]!;
    try {
      await runCheck(check, () => this.#open(), { runs: Number(searchParams.get('runs')) });
      return new Response();
    } catch (error) {
      return new Response(error instanceof Error ? error.stack : String(error), { status: 500 });
    }
  }

  alarm(): Promise<void> {
    return this.#store.alarm();
  }
}

export default {
  fetch: (request: Request, { Subject }: Env) => Subject.getByName(request.url).fetch(request),
};
