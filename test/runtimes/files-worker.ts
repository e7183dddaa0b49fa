import { type Agent, artifact, completed, createAgentServer } from '@batonjs/server';
import {
  durableObjectStore,
  type ObjectStorage,
  type R2Binding,
  r2Files,
} from '@batonjs/store-sqlite/durable-object';

interface Env {
  readonly PUBLIC_URL: string;
  readonly FILES: R2Binding;
  readonly GREETER: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
}

/** Gives the first file back, twice. */
const twice: Agent = async function* ({ message, file, saveFile }) {
  const given = file(message.parts.find((part) => 'url' in part)!);
  async function* both() {
    yield* given.stream();
    yield* given.stream();
  }
  yield artifact('twice', await saveFile(both(), { filename: 'twice.bin' }));
  yield completed();
};

export class Greeter {
  readonly #store;
  readonly #server;

  constructor({ storage }: { readonly storage: ObjectStorage }, { PUBLIC_URL: publicUrl, FILES }: Env) {
    this.#store = durableObjectStore(storage);
    this.#server = createAgentServer({
      card: { name: 'Twice', description: 'Gives files', defaultInputModes: ['*/*'] },
      agent: twice,
      store: this.#store,
      publicUrl,
      files: { store: r2Files(FILES) },
    });
  }

  fetch(request: Request): Promise<Response> {
    return this.#server.fetch(request);
  }

  alarm(): Promise<void> {
    return this.#store.alarm();
  }
}

export default {
  fetch: (request: Request, { GREETER }: Env) => GREETER.getByName('one').fetch(request),
};
