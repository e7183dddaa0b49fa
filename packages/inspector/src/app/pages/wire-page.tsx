import { useEffect, useState } from 'preact/hooks';
import type { Exchange } from '../../api/wire.ts';
import { placeHref } from '../data/route.ts';
import { useAgent, useFeeds, useMay } from '../data/session.ts';
import { Empty } from '../parts/bits.tsx';
import { Choice } from '../parts/choice.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { duration } from '../parts/words.ts';
import { ExchangeTime, ExchangeView } from './exchange-view.tsx';

/** The most exchanges that the page keeps. */
const most = 1_000;

/** The latest exchanges with an agent, by number. */
function useExchanges(agent: string, canCall: boolean): ReadonlyMap<number, Exchange> {
  const openFeed = useFeeds();
  const [exchanges, setExchanges] = useState<ReadonlyMap<number, Exchange>>(new Map());
  useEffect(() => {
    if (!canCall) return;
    setExchanges(new Map());
    return openFeed<{ exchanges: readonly Exchange[] }>({
      path: () => `/agents/${encodeURIComponent(agent)}/wire`,
      onValue: ({ exchanges: changed }) =>
        setExchanges((before) => {
          const all = new Map(before);
          for (const exchange of changed) all.set(exchange.number, exchange);
          return all.size > most ? new Map([...all].slice(-most)) : all;
        }),
    });
  }, [agent, canCall]);
  return exchanges;
}

/** Every request to an agent and its response, as they were sent. */
export function WirePage({ agent }: { readonly agent: string }) {
  const summary = useAgent(agent);
  const canCall = summary?.canCall ?? false;
  const mayReadAll = useMay('read-requests');
  const exchanges = useExchanges(agent, canCall);
  const [chosen, setChosen] = useState<number>();
  const [binding, setBinding] = useState('');
  if (!canCall)
    return (
      <Empty icon="wire" title="No requests">
        The inspector has only the store of this agent and sends it no requests.
      </Empty>
    );
  const all = [...exchanges.values()].reverse();
  const bindings = [...new Set(all.flatMap(({ binding }) => binding ?? []))].sort();
  const rows = all.filter((exchange) => !binding || exchange.binding === binding);
  const exchange = chosen === undefined ? rows[0] : exchanges.get(chosen);
  return (
    <div class="wire-page">
      <header class="page-head">
        <h1>Requests</h1>
        <span class="muted">What this inspector sent to the agent. Credentials are left out.</span>
        {mayReadAll && <a href={placeHref('requests', { agent })}>Those of all clients</a>}
        <span class="spacer" />
        <Choice
          label="Binding"
          all="All bindings"
          chosen={binding}
          values={bindings.map((name) => [name, name])}
          onChoose={setBinding}
        />
      </header>
      {rows.length === 0 ? (
        <Empty icon="wire" title="Nothing was sent yet">
          Open a task or send a message, and the requests appear here.
        </Empty>
      ) : (
        <div class="panes">
          <section class="pane pane-wire" aria-label="Requests">
            <VirtualList
              items={rows}
              rowHeight={44}
              label="Requests"
              selected={rows.findIndex(({ number }) => number === exchange?.number)}
              onSelect={(index) => setChosen(rows[index]!.number)}
              rowClass={({ isError }) => `wire-row ${isError ? 'is-error' : ''}`}
              row={(each) => <ExchangeCells exchange={each} />}
            />
          </section>
          <section class="pane pane-exchange" aria-label="The request and its response">
            {exchange && <ExchangeView exchange={exchange} />}
          </section>
        </div>
      )}
    </div>
  );
}

function ExchangeCells({ exchange }: { readonly exchange: Exchange }) {
  return (
    <>
      <ExchangeTime at={exchange.at} />
      <span class="wire-operation">{exchange.operation}</span>
      <span class="muted">{exchange.binding ?? ''}</span>
      <span class="wire-status">{exchange.status ?? 'waiting'}</span>
      <span class="number muted">{exchange.endMs === undefined ? '…' : duration(exchange.endMs)}</span>
    </>
  );
}
