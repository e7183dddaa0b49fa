/** Resolves after a pause, or earlier when the signal is aborted, the network is back or the page is shown again. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      for (const [target, name] of returns()) target.removeEventListener(name, onReturn);
      resolve();
    };
    const onReturn = () => {
      if (!globalThis.document?.hidden) end();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    for (const [target, name] of returns()) target.addEventListener(name, onReturn);
    if (signal.aborted) end();
  });
}

/** The events after which a page tries again at once. Elsewhere than in a page there are none. */
const returns = (): [EventTarget, string][] =>
  globalThis.document
    ? [
        [globalThis, 'online'],
        [globalThis.document, 'visibilitychange'],
      ]
    : [];
