import type { StepResult } from '@batonjs/lifecycle';
import { isSameText } from '@batonjs/protocol/security';
import type { Answer, RecordStore } from '@batonjs/store';
import { sha256 } from '#bytes';
import type { Turn } from '../../agent/agent.ts';
import { changeRecord } from '../../base/store/records.ts';
import { randomText } from '../../base/system/new-id.ts';
import type { Clock } from '../../base/timing/clock.ts';

/** The record of a store with its keys, the latest first. */
const keysRecord = 'callback-keys';
/** How often the record is read again for a token that no known key signed, in milliseconds. */
const rereadMs = 1_000;
/** How long a key counts without another look at the record, in milliseconds. */
const knownMs = 60_000;

type KeyStore = Pick<RecordStore, 'getRecord' | 'putRecord'>;

export type CallbackKeys = ReturnType<typeof callbackKeys>;

/**
 * Signs the tokens of callbacks, so that one that is made up is refused before its task is loaded. All processes on a
 * store have the same key, which the first one makes. Tokens of the key before it are taken as well.
 */
export function callbackKeys(store: KeyStore, clock: Pick<Clock, 'monotonic'>) {
  let latest: Promise<readonly string[]> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;

  /** The keys, as they were read at most so long ago. */
  function known(mostMs: number): Promise<readonly string[]> {
    const now = clock.monotonic();
    if (!latest || now - readAt >= mostMs) {
      readAt = now;
      latest = read();
      latest.catch(() => {
        latest = undefined;
      });
    }
    return latest;
  }

  async function read(): Promise<readonly string[]> {
    let keys: readonly string[] = [];
    await changeRecord<unknown>(store, keysRecord, (value) => {
      keys = value === undefined ? [randomText(32)] : keysIn(value);
      return value === undefined ? { keys } : undefined;
    });
    return keys;
  }

  /** Signs several texts at once. */
  async function signer(): Promise<(text: string) => string> {
    const [latest = ''] = await known(knownMs);
    return (text) => signatureOf(latest, text);
  }

  return {
    signer,
    sign: async (text: string): Promise<string> => (await signer())(text),
    /** Whether one of the keys signed the text. Reads the store at most once a second. */
    async isSigned(text: string, signature: string): Promise<boolean> {
      for (const mostMs of [knownMs, rereadMs]) {
        const keys = await known(mostMs);
        if (keys.some((key) => isSameText(signatureOf(key, text), signature))) return true;
      }
      return false;
    },
  };
}

/** Makes the key that signs from now on. Tokens of the key before it are taken until the next change. */
export const rotateCallbackKey = (store: KeyStore): Promise<void> =>
  changeRecord<unknown>(store, keysRecord, (value) => ({
    keys: [randomText(32), ...(value === undefined ? [] : keysIn(value).slice(0, 1))],
  }));

/** For turns without a store, whose callbacks no server takes. */
export const unsigned: Pick<CallbackKeys, 'sign'> = { sign: async () => '' };

function keysIn(value: unknown): readonly string[] {
  const { keys } = Object(value) as { keys?: unknown };
  if (Array.isArray(keys) && keys.length > 0 && keys.every((key) => typeof key === 'string' && key !== ''))
    return keys.slice(0, 2);
  throw new TypeError(`The record "${keysRecord}" of the store holds no keys`);
}

/** Hashed twice: a hash of the key and the text alone could be continued without knowing the key. */
const signatureOf = (key: string, text: string): string => hashed([key, hashed([key, text])]);

const hashed = (texts: readonly string[]): string => sha256(JSON.stringify(texts), 'base64url');

/** The step that keeps the secret. Its record makes the keys the same in every attempt of the turn. */
export const secretStep = '@batonjs/idempotency-keys';

/** The recorded steps of a turn. */
interface Steps {
  /** The result of a step, if it was completed. */
  done(name: string): StepResult | undefined;
  /** Stores a result. Rejects if it cannot be stored. */
  complete(name: string, result: unknown): Answer<unknown>;
}

/** The keys of one turn: hashes of names with a secret, which is recorded before the first of them is given out. */
export function createIdempotencyKeys({ done, complete }: Steps): Turn['idempotencyKey'] {
  let recording: Promise<void> | undefined;
  const record = async (): Promise<void> => {
    try {
      await complete(secretStep, randomText(32));
    } finally {
      recording = undefined;
    }
  };
  return async (name) => {
    if (typeof name !== 'string' || name === '') throw new TypeError('An idempotency key needs a name');
    if (!done(secretStep)) {
      recording ??= record();
      await recording;
    }
    return sha256(JSON.stringify([name, done(secretStep)?.result]), 'base64url');
  };
}
