import { sleep } from '@batonjs/protocol/timing';
import type { Exchange, ExchangeUpdate } from '../api/wire.ts';
import { News } from '../pause.ts';
import type { WireLog } from '../wire/wire-log.ts';

/** How often exchanges that change are sent, in milliseconds: a stream changes with every event. */
const everyMs = 200;

/** The exchanges of a log, and each that changes. Ends when the signal aborts. */
export async function* exchangeFeed<Kept extends Exchange>(
  log: WireLog<Kept>,
  signal: AbortSignal,
): AsyncGenerator<ExchangeUpdate<Kept>, void, void> {
  const changed = new Map<number, Kept>(log.exchanges.map((exchange) => [exchange.number, exchange]));
  const news = new News();
  const unlisten = log.listen((exchange) => {
    changed.set(exchange.number, exchange);
    news.notify();
  });
  try {
    const { exchanges, bytes } = log.bounds;
    yield {
      type: 'open',
      pid: process.pid,
      since: log.since,
      exchanges,
      bytes: Number.isFinite(bytes) ? bytes : null,
    };
    while (!signal.aborted) {
      const exchanges = [...changed.values()];
      changed.clear();
      if (exchanges.length > 0) yield { type: 'exchanges', exchanges };
      await sleep(everyMs, signal);
      await news.wait(60_000, signal);
    }
  } finally {
    unlisten();
  }
}
