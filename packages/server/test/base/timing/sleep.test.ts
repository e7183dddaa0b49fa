import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../../src/base/timing/clock.ts';

const { sleep } = systemClock;

/** The signal of a controller, and how many listeners it has. */
function listened({ signal }: AbortController) {
  const listening: [type: string, listener: unknown][] = [];
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (type: string, listener: EventListenerOrEventListenerObject) => {
    listening.push([type, listener]);
    add(type, listener);
  };
  signal.removeEventListener = (type: string, listener: EventListenerOrEventListenerObject) => {
    const at = listening.findIndex(([known, one]) => known === type && one === listener);
    if (at >= 0) listening.splice(at, 1);
    remove(type, listener);
  };
  return { signal, listening: () => listening.length };
}

describe('the sleep of the system clock', () => {
  it.each([
    ['so many milliseconds', 10, 10],
    ['at most as long as a timer can', Number.POSITIVE_INFINITY, 2 ** 31 - 1],
  ])('lasts %s', async (_, ms, expected) => {
    // Not the clocks: others of this process would stay ahead.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    let isOver = false;
    void sleep(ms).then(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(expected - 1);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isOver).toBe(true);
  });

  it('leaves no timer and no listener when it is aborted', async () => {
    // Not the clocks: others of this process would stay ahead.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const abort = new AbortController();
    const { signal, listening } = listened(abort);
    const paused = sleep(3_600_000, signal);
    expect([vi.getTimerCount(), listening()]).toEqual([1, 1]);
    abort.abort();
    await paused;
    expect([vi.getTimerCount(), listening()]).toEqual([0, 0]);
  });

  it('works where timers are numbers, as in browsers', async () => {
    const start = setTimeout;
    vi.stubGlobal('setTimeout', (done: () => void, ms: number) => Number(start(done, ms)));
    onTestFinished(() => void vi.unstubAllGlobals());
    await sleep(1);
  });

  it('ends at once when aborted', async () => {
    const abort = new AbortController();
    const paused = sleep(3_600_000, abort.signal);
    abort.abort();
    await paused;
    await sleep(Number.POSITIVE_INFINITY, abort.signal);
  });
});
