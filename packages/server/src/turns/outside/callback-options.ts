import { withDefaults } from '@batonjs/protocol/options';
import type { Rate, TaskStore } from '@batonjs/store';
import { type CallerRate, toRate } from '../../base/caller-rate.ts';
import { type PageTexts, PageWords } from '../../base/page-words.ts';
import { mustBePositive } from '../../base/timeouts.ts';
import type { Clock } from '../../base/timing/clock.ts';
import { type CallbackKeys, callbackKeys } from './callback-keys.ts';

/** How values arrive from outside: `turn.callback`. */
export const callbackOptions = {
  /**
   * The absolute URL of the server, below which `/callbacks/…` arrives. Default: `publicUrl`. A worker, which has none,
   * needs it.
   */
  url: undefined as string | undefined,
  /** Bytes of one value, as JSON. Default 65,536. */
  bytes: 65_536,
  /**
   * How many values one network address may send, to all servers on the store together. Needs a store with `take`.
   * Default: 600 a minute.
   */
  rate: undefined as CallerRate | undefined,
  /**
   * The language and the words of the pages on which people answer, by the English ones: `{ lang: 'de' }` is German.
   * Default: English.
   */
  texts: undefined as PageTexts | undefined,
  /** The zone of the times on these pages, as IANA names it, such as `'Europe/Berlin'`. Default `'UTC'`. */
  timeZone: 'UTC',
};

export type CallbackOptions = Readonly<Partial<typeof callbackOptions>>;

/** The options, completed. */
export interface CompleteCallbacks {
  /** Without a slash at its end. */
  readonly url: string;
  readonly bytes: number;
  readonly rate: Rate | undefined;
  readonly keys: CallbackKeys;
  readonly words: PageWords;
}

interface CallbackParts {
  readonly publicUrl: string | undefined;
  readonly store: Pick<TaskStore, 'take' | 'getRecord' | 'putRecord'>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Undefined if there are no callbacks. Throws `TypeError` for options that cannot work. */
export function completeCallbacks(
  option: CallbackOptions | boolean,
  { publicUrl, store, clock }: CallbackParts,
): CompleteCallbacks | undefined {
  if (!option) return undefined;
  const hasTake = store.take !== undefined;
  const usual = hasTake ? { limit: 600, perMs: 60_000 } : undefined;
  const given = option === true ? {} : option;
  const { url = publicUrl, bytes, rate = usual, texts, timeZone } = withDefaults(callbackOptions, given);
  if (url === undefined)
    throw new TypeError(
      '`callbacks` needs `publicUrl`, or `callbacks.url` in a worker: other systems call it',
    );
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new TypeError(`\`callbacks.url\` must be a whole URL, and is '${url}'`);
  mustBePositive('callbacks', { bytes });
  if (rate && !hasTake)
    throw new TypeError('`callbacks.rate` needs a store with `take`, such as those of Baton');
  const keys = callbackKeys(store, clock);
  const words = new PageWords(texts, timeZone);
  return { url: url.replace(/(?<!\/)\/+$/, ''), bytes, rate: toRate('callbacks.rate', rate), keys, words };
}
