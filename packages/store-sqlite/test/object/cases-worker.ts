import assert from 'node:assert/strict';
import { StoreError } from '@batonjs/store';
import { chunkAfter } from '../../../../test/kit/task-logs.ts';
import { durableObjectStore, type ObjectStorage } from '../../src/durable-object.ts';
import { alarmCases } from './alarm-cases.ts';
import { cases } from './object-cases.ts';
import type { WholeStorage } from './object-storage.ts';

type Env = Readonly<
  Record<string, { getByName(name: string): { fetch(request: Request): Promise<Response> } }>
>;

async function answerTo(work: () => Promise<void>): Promise<Response> {
  try {
    await work();
    return new Response();
  } catch (error) {
    return new Response(error instanceof Error ? error.stack : String(error), { status: 500 });
  }
}

abstract class Subject {
  protected readonly storage: WholeStorage;

  constructor({ storage }: { readonly storage: WholeStorage }) {
    this.storage = storage;
  }
}

/** Runs one case. */
export class Alarmed extends Subject {
  fetch(request: Request): Promise<Response> {
    const title = new URL(request.url).searchParams.get('title')!;
    return answerTo(() => ({ ...cases, ...alarmCases })[title]!(this.storage));
  }

  alarm(): void {}
}

/** Has no method `alarm`. */
export class Unalarmed extends Subject {
  fetch(): Promise<Response> {
    return answerTo(async () => {
      const store = durableObjectStore(this.storage);
      await store.commit(chunkAfter(0));
      const work = chunkAfter(1, { turn: { queue: 'q', want: true } });
      const refuses = (code: string) => (error: unknown) =>
        StoreError.is(error) &&
        error.code === code &&
        error.message.includes('`alarm() { return store.alarm(); }`');
      await assert.rejects(async () => store.commit(work), refuses('UNAVAILABLE'));
      await assert.rejects(store.load('s', 't'), refuses('UNUSABLE'));
    });
  }
}

/** Is not of `new_sqlite_classes`. */
export class Unqueried extends Subject {
  fetch(): Promise<Response> {
    return answerTo(async () => {
      const refuses = (error: unknown) =>
        StoreError.is(error, 'UNUSABLE') && /no SQLite.*`new_sqlite_classes`/.test(error.message);
      assert.throws(() => durableObjectStore(this.storage as ObjectStorage), refuses);
    });
  }
}

export default {
  fetch(request: Request, classes: Env) {
    const name = new URL(request.url).searchParams.get('class')!;
    return classes[name]!.getByName(request.url).fetch(request);
  },
};
