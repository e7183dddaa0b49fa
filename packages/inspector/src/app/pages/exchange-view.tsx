import { tryJson } from '@batonjs/protocol/json';
import type { ComponentChildren } from 'preact';
import type { Exchange } from '../../api/wire.ts';
import { CopyButton, Facts, Section } from '../parts/bits.tsx';
import { JsonView } from '../parts/content.tsx';
import { duration } from '../parts/words.ts';

interface ExchangeViewProps {
  readonly exchange: Exchange;
  /** More facts about it. */
  readonly facts?: readonly (readonly [string, ComponentChildren])[];
}

/** A request and its response, as they were sent, and a line for the shell that sends it again. */
export function ExchangeView({ exchange, facts = [] }: ExchangeViewProps) {
  const { operation, method, url, status, firstMs, endMs, shell, isCut } = exchange;
  return (
    <>
      <header class="exchange-head">
        <h2>{operation}</h2>
        {shell && (
          <CopyButton text={shell} label={exchange.binding === 'GRPC' ? 'Copy as grpcurl' : 'Copy as curl'} />
        )}
      </header>
      <Facts
        rows={[
          ['Request', <span key="url" class="mono">{`${method} ${url}`}</span>],
          ...facts,
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
      {shell && <pre class="code shell-line">{shell}</pre>}
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
  const value = tryJson(text);
  return value === undefined ? <pre class="code">{text}</pre> : <JsonView value={value} open={3} />;
}
