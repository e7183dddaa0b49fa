import type { RecordStore } from '@batonjs/store';
import { sha256 } from '#bytes';
import { randomText } from '../../base/system/random-text.ts';
import type { Clock } from '../../base/timing/clock.ts';
import { isSameText } from './callback-token.ts';

/** The record of a store with its keys, the latest first. */
const recordName = 'callback-keys';
/** How often the record is read again for a token that no known key signed, in milliseconds. */
const rereadMs = 1_000;

/**
 * Signs the tokens of callbacks, so that one that is made up is refused before its task is loaded. All processes on a
 * store have the same key, which the first one makes. Tokens of the key before it are taken as well.
 */
export class CallbackKeys {
  readonly #store: Pick<RecordStore, 'getRecord' | 'putRecord'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #keys: Promise<readonly string[]> | undefined;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(store: Pick<RecordStore, 'getRecord' | 'putRecord'>, clock: Pick<Clock, 'monotonic'>) {
    this.#store = store;
    this.#clock = clock;
  }

  async sign(text: string): Promise<string> {
    const [latest = ''] = await this.#known();
    return signatureOf(latest, text);
  }

  /** Whether one of the keys signed the text. Reads the store at most once a second. */
  async isSigned(text: string, signature: string): Promise<boolean> {
    if (hasSigned(await this.#known(), text, signature)) return true;
    if (this.#clock.monotonic() - this.#readAt < rereadMs) return false;
    this.#keys = undefined;
    return hasSigned(await this.#known(), text, signature);
  }

  #known(): Promise<readonly string[]> {
    if (!this.#keys) {
      this.#readAt = this.#clock.monotonic();
      this.#keys = this.#read();
      this.#keys.catch(() => {
        this.#keys = undefined;
      });
    }
    return this.#keys;
  }

  async #read(): Promise<readonly string[]> {
    const found = await this.#store.getRecord(recordName);
    if (found) return keysIn(found.value);
    const made = { keys: [randomText(32)] };
    if ((await this.#store.putRecord(recordName, 0, made)) !== undefined) return made.keys;
    // Another process made it at the same moment.
    return keysIn((await this.#store.getRecord(recordName))?.value);
  }
}

/** For turns without a store, whose callbacks no server takes. */
export const unsigned: Pick<CallbackKeys, 'sign'> = { sign: async () => '' };

function keysIn(value: unknown): readonly string[] {
  const { keys } = Object(value) as { keys?: unknown };
  if (Array.isArray(keys) && keys.length > 0 && keys.every((key) => typeof key === 'string' && key !== ''))
    return keys.slice(0, 2);
  throw new TypeError(`The record "${recordName}" of the store holds no keys`);
}

const hasSigned = (keys: readonly string[], text: string, signature: string): boolean =>
  keys.some((key) => isSameText(signatureOf(key, text), signature));

/** Hashed twice: a hash of the key and the text alone could be continued without knowing the key. */
const signatureOf = (key: string, text: string): string => hashed([key, hashed([key, text])]);

const hashed = (texts: readonly string[]): string => sha256(JSON.stringify(texts), 'base64url');
