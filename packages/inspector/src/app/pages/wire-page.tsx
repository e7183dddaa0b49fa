import { useEffect, useState } from 'preact/hooks';
import type { Exchange } from '../../api/wire.ts';
import { useAgent, useFeeds } from '../data/session.ts';
import { CopyButton, Empty, Facts, Section } from '../parts/bits.tsx';
import { JsonView } from '../parts/json-view.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { clockTime, duration } from '../parts/words.ts';

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
        <h1>Wire</h1>
        <span class="muted">What this inspector sent to the agent. Credentials are left out.</span>
        <span class="spacer" />
        <label class="select">
          <span class="visually-hidden">Binding</span>
          <select value={binding} onChange={(event) => setBinding(event.currentTarget.value)}>
            <option value="">All bindings</option>
            {bindings.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
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
      <span class="mono muted wire-time">
        {clockTime(exchange.at).slice(0, 8)}
        <span class="wire-ms">{clockTime(exchange.at).slice(8)}</span>
      </span>
      <span class="wire-operation">{exchange.operation}</span>
      <span class="muted">{exchange.binding ?? ''}</span>
      <span class="wire-status">{exchange.status ?? 'waiting'}</span>
      <span class="number muted">{exchange.endMs === undefined ? '…' : duration(exchange.endMs)}</span>
    </>
  );
}

function ExchangeView({ exchange }: { readonly exchange: Exchange }) {
  const { operation, method, url, status, firstMs, endMs, shell, isCut } = exchange;
  return (
    <>
      <header class="exchange-head">
        <h2>{operation}</h2>
        <CopyButton text={shell} label={exchange.binding === 'GRPC' ? 'Copy as grpcurl' : 'Copy as curl'} />
      </header>
      <Facts
        rows={[
          ['Request', <span key="url" class="mono">{`${method} ${url}`}</span>],
          ['Status', status ?? 'no answer yet'],
          [
            'Time',
            [
              firstMs !== undefined && `${duration(firstMs)} to the first byte`,
              endMs !== undefined && `${duration(endMs)} in all`,
            ]
              .filter(Boolean)
              .join(', ') || 'still open',
          ],
        ]}
      />
      <pre class="code shell-line">{shell}</pre>
      <Section title="Request">
        <Headers headers={exchange.requestHeaders} />
        <Body text={exchange.requestBody ?? ''} />
      </Section>
      <Section title="Response">
        <Headers headers={exchange.responseHeaders} />
        <Body text={exchange.responseBody} />
        {isCut && <p class="muted">The rest is not kept.</p>}
      </Section>
    </>
  );
}

function Headers({ headers }: { readonly headers: Readonly<Record<string, string>> }) {
  const entries = Object.entries(headers);
  if (entries.length === 0) return null;
  return <pre class="code">{entries.map(([name, value]) => `${name}: ${value}`).join('\n')}</pre>;
}

function Body({ text }: { readonly text: string }) {
  if (text === '') return <p class="muted">No body.</p>;
  const value = parsed(text);
  return value === undefined ? <pre class="code">{text}</pre> : <JsonView value={value} open={3} />;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
