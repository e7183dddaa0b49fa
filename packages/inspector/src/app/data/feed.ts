import { backoffMs, sleep } from '@batonjs/protocol/timing';
import { accessHeaders } from './access.ts';
import { type ApiError, apiUrl, errorOf } from './api.ts';

/** The state of a feed. */
export type FeedState = 'open' | 'lost';

/** What a feed is opened with. */
export interface FeedOptions<T> {
  /** Called for each connection: it may say where to go on. */
  readonly path: () => string;
  readonly onValue: (value: T) => void;
  readonly onState?: (state: FeedState) => void;
  /** The inspector refused the feed: asking again would not help, so it is closed. */
  readonly onRefused?: (error: ApiError) => void;
}

/** Without a byte for so long, in milliseconds, a connection counts as broken: the inspector sends something every 10 s. */
const silenceMs = 25_000;
const backoff = { initialMs: 250, maxMs: 2_000, jitter: 0 };

/**
 * Reads a feed of the inspector and reconnects for as long as it is open and not refused. Returns the function that
 * closes it.
 */
export function openFeed<T>({ path, onValue, onState, onRefused }: FeedOptions<T>): () => void {
  const closing = new AbortController();
  void (async () => {
    let failures = 0;
    while (!closing.signal.aborted) {
      try {
        const refusal = await readOnce(
          path(),
          closing.signal,
          (value: T) => {
            failures = 0;
            onValue(value);
          },
          () => onState?.('open'),
        );
        if (refusal) return closing.signal.aborted ? undefined : onRefused?.(refusal);
      } catch {
        // Said by the state.
      }
      if (closing.signal.aborted) return;
      onState?.('lost');
      await sleep(backoffMs(++failures, backoff), closing.signal);
    }
  })();
  return () => closing.abort();
}

/** Resolves when the connection ended, to the error if the inspector refused it for good. Rejects if it broke. */
async function readOnce<T>(
  path: string,
  closed: AbortSignal,
  onValue: (value: T) => void,
  onOpen: () => void,
): Promise<ApiError | undefined> {
  const silent = new AbortController();
  const signal = AbortSignal.any([closed, silent.signal]);
  let timer = setTimeout(() => silent.abort(), silenceMs);
  try {
    const response = await fetch(apiUrl(path), { headers: accessHeaders(), signal });
    if (response.status >= 400 && response.status < 500) return await errorOf(response);
    if (!response.ok || !response.body) throw new Error(`The inspector answered ${response.status}`);
    onOpen();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return undefined;
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(), silenceMs);
      const lines = (rest + value).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') onValue(JSON.parse(line) as T);
    }
  } finally {
    clearTimeout(timer);
  }
}
