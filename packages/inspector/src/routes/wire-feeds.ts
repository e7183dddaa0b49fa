import type { ClientExchangeUpdate, Exchange } from '../api/wire.ts';
import type { ClientRequests } from '../clients/client-requests.ts';
import { pause } from '../pause.ts';

/** How often exchanges that change are sent, in milliseconds: a stream changes with every event. */
const everyMs = 200;

interface WireSource<Kept extends Exchange> {
  readonly exchanges: readonly Kept[];
  listen(listener: (exchange: Kept) => void): () => void;
}

/** The requests of this inspector to one agent. Ends when the signal aborts. */
export async function* ownFeed(log: WireSource<Exchange>, signal: AbortSignal) {
  for await (const exchanges of changes(log, signal)) yield { exchanges };
}

/** The requests of all clients. Ends when the signal aborts. */
export async function* requestFeed(
  { bounds, since, log }: ClientRequests,
  signal: AbortSignal,
): AsyncGenerator<ClientExchangeUpdate, void, void> {
  yield { type: 'open', pid: process.pid, since, ...bounds };
  for await (const exchanges of changes(log, signal)) yield { type: 'exchanges', exchanges };
}

async function* changes<Kept extends Exchange>(
  log: WireSource<Kept>,
  signal: AbortSignal,
): AsyncGenerator<readonly Kept[], void, void> {
  const changed = new Map<number, Kept>(log.exchanges.map((exchange) => [exchange.number, exchange]));
  let wake = () => {};
  const unlisten = log.listen((exchange) => {
    changed.set(exchange.number, exchange);
    wake();
  });
  try {
    while (!signal.aborted) {
      const exchanges = [...changed.values()];
      changed.clear();
      if (exchanges.length > 0) yield exchanges;
      await pause(everyMs, signal);
      if (changed.size === 0)
        await pause(60_000, signal, (resume) => {
          wake = resume;
        });
    }
  } finally {
    unlisten();
  }
}
