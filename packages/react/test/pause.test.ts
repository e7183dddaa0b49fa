import { expect, it, onTestFinished, vi } from 'vitest';
import { pause } from '../src/feeds/pause.ts';

it('a pause ends with its time, with its signal, and when the page is back', async () => {
  const page = Object.assign(new EventTarget(), { hidden: true });
  const network = new EventTarget();
  vi.stubGlobal('document', page);
  vi.stubGlobal('addEventListener', network.addEventListener.bind(network));
  vi.stubGlobal('removeEventListener', network.removeEventListener.bind(network));
  onTestFinished(() => void vi.unstubAllGlobals());
  await pause(1, new AbortController().signal);
  await pause(60_000, AbortSignal.abort());
  const leaving = new AbortController();
  const left = pause(60_000, leaving.signal);
  leaving.abort();
  await left;
  for (const [target, name] of [
    [page, 'visibilitychange'],
    [network, 'online'],
  ] as const) {
    let isOver = false;
    const waiting = pause(60_000, new AbortController().signal).then(() => {
      isOver = true;
    });
    page.hidden = true;
    target.dispatchEvent(new Event(name));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isOver).toBe(false);
    page.hidden = false;
    target.dispatchEvent(new Event(name));
    await waiting;
  }
});
