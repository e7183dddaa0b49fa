import { sleep } from '@batonjs/protocol/timing';

/** Resolves after a pause, or earlier when the signal is aborted, the network is back or the page is shown again. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const onReturn = () => {
    if (!globalThis.document?.hidden) over.abort();
  };
  for (const [target, name] of returns()) target.addEventListener(name, onReturn, { signal: over.signal });
  await sleep(ms, AbortSignal.any([signal, over.signal]));
  over.abort();
}

/** The events after which a page tries again at once. Elsewhere than in a page there are none. */
const returns = (): [EventTarget, string][] =>
  globalThis.document
    ? [
        [globalThis, 'online'],
        [globalThis.document, 'visibilitychange'],
      ]
    : [];
