import { tryJson } from '@batonjs/protocol/json';
import { useEffect, useState } from 'preact/hooks';
import type { ClientExchange, Exchange, ExchangeUpdate } from '../../api/wire.ts';
import { agentPath } from '../data/api.ts';
import { changeQuery, noteQuery, placeHref } from '../data/route.ts';
import { useAgent, useFeeds, useMay, useSession } from '../data/session.ts';
import { AgentCell } from '../parts/agent-mark.tsx';
import { CopyButton, Empty, Facts, Loading, PageHead, ProblemNote, Section } from '../parts/bits.tsx';
import { Choice } from '../parts/choice.tsx';
import { JsonView } from '../parts/content.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { clockTime, counted, dateTime, duration, fileSize, plural } from '../parts/words.ts';

/** A request of this inspector, or of any client: then the agent and the caller are known. */
type Shown = Exchange & Partial<Pick<ClientExchange, 'agent' | 'caller' | 'version'>>;

type About = Extract<ExchangeUpdate, { type: 'open' }>;

/** The latest requests of a feed, and how many are kept. */
function useRequests(path: string) {
  const openFeed = useFeeds();
  const [about, setAbout] = useState<About>();
  const [requests, setRequests] = useState<ReadonlyMap<number, Shown>>(new Map());
  const [refusal, setRefusal] = useState<string>();
  useEffect(() => {
    let most = 0;
    return openFeed<ExchangeUpdate<Shown>>({
      path: () => path,
      onRefused: ({ message }) => setRefusal(message),
      onValue(update) {
        if (update.type === 'open') {
          most = update.exchanges;
          setAbout(update);
          // Another process counts from zero.
          setRequests(new Map());
          return;
        }
        setRequests((before) => {
          const all = new Map(before);
          for (const exchange of update.exchanges) all.set(exchange.number, exchange);
          return all.size > most ? new Map([...all].sort(([one], [other]) => one - other).slice(-most)) : all;
        });
      },
    });
  }, [path]);
  return { about, refusal, requests };
}

/** The members by which requests are chosen, in the address and in the choice of all. */
const members = {
  agent: 'All agents',
  caller: 'All callers',
  operation: 'All operations',
  binding: 'All bindings',
} as const;
type Member = keyof typeof members;

interface RequestsPageProps {
  /** Undefined shows what all clients sent to the agents of the inspector's process, else what the inspector sent. */
  readonly agent: string | undefined;
  /** The filter, as it stands in the address. */
  readonly query: URLSearchParams;
}

/** Requests and their responses as they were sent, live. */
export function RequestsPage({ agent, query }: RequestsPageProps) {
  const mayReadAll = useMay('read-requests');
  const canCall = useAgent(agent ?? '')?.canCall ?? false;
  if (agent === undefined && !mayReadAll)
    return (
      <Empty icon="wire" title="The requests of clients are not kept">
        The program that runs the inspector keeps them with <code>clientRequests</code>, for viewers who may{' '}
        <code>read-requests</code>.
      </Empty>
    );
  if (agent !== undefined && !canCall)
    return (
      <Empty icon="wire" title="No requests">
        The inspector has only the store of this agent and sends it no requests.
      </Empty>
    );
  return <Requests agent={agent} query={query} />;
}

function Requests({ agent, query }: RequestsPageProps) {
  const isOwn = agent !== undefined;
  const mayReadAll = useMay('read-requests');
  const { about, refusal, requests } = useRequests(isOwn ? agentPath(agent, 'wire') : '/requests');
  const [chosen, setChosen] = useState(() => Number(query.get('number')) || undefined);
  const all = [...requests.values()].sort((one, other) => other.number - one.number);
  const names: readonly Member[] = isOwn ? ['operation', 'binding'] : ['agent', 'caller', 'operation'];
  const rows = all.filter((exchange) =>
    names.every((name) => !query.get(name) || exchange[name] === query.get(name)),
  );
  const exchange = (chosen === undefined ? undefined : requests.get(chosen)) ?? rows[0];
  const choose = (index: number) => {
    setChosen(rows[index]?.number);
    noteQuery({ number: String(rows[index]?.number ?? '') });
  };
  if (refusal) return <ProblemNote problem={refusal} />;
  if (!about) return <Loading what="Reading the requests" />;
  return (
    <div class="wire-page">
      <PageHead
        title={isOwn ? 'Requests' : 'All requests'}
        about={isOwn ? 'What this inspector sent to the agent. Credentials are left out.' : aboutAll(about)}
      >
        {isOwn && mayReadAll && <a href={placeHref('requests', { agent })}>Those of all clients</a>}
      </PageHead>
      <div class="filters">
        {names.map((name) => (
          <MemberChoice key={name} name={name} chosen={query.get(name) ?? ''} all={all} />
        ))}
        <span class="spacer" />
        <span class="muted list-count" role="status">
          {plural(rows.length, 'request')}
        </span>
      </div>
      {rows.length === 0 || !exchange ? (
        <Empty icon="wire" title={all.length > 0 ? 'No request fits' : 'No request yet'}>
          {all.length > 0 && 'Choose another value above.'}
          {all.length === 0 &&
            (isOwn
              ? 'Open a task or send a message, and the requests appear here.'
              : 'Requests appear here as clients send them.')}
        </Empty>
      ) : (
        <div class="panes">
          <section class="pane pane-wire" aria-label={isOwn ? 'Requests' : 'Requests of clients'}>
            <VirtualList
              items={rows}
              rowHeight={56}
              label="Requests"
              selected={rows.indexOf(exchange)}
              onSelect={choose}
              rowClass={({ isError }) => `request-row ${isError ? 'is-error' : ''}`}
              row={(each) => <RequestCells exchange={each} />}
            />
          </section>
          <section class="pane pane-exchange" aria-label="The request and its response">
            <ExchangeView exchange={exchange} />
          </section>
        </div>
      )}
    </div>
  );
}

const aboutAll = ({ pid, since, exchanges, bytes }: About): string =>
  `Of all clients, answered by process ${pid} since ${dateTime(since)}: the last ${counted(exchanges)}, in at most ${fileSize(bytes ?? 0)}. Credentials are left out.`;

interface MemberChoiceProps {
  readonly name: Member;
  readonly chosen: string;
  readonly all: readonly Shown[];
}

/** Chooses among the values that there are. */
function MemberChoice({ name, chosen, all }: MemberChoiceProps) {
  const { agents } = useSession();
  const values = [...new Set(all.flatMap((exchange) => exchange[name] ?? []))].sort();
  const wordOf = (value: string) =>
    (name === 'agent' ? agents.find(({ id }) => id === value)?.name : undefined) ?? value;
  return (
    <Choice
      label={name[0]!.toUpperCase() + name.slice(1)}
      all={members[name]}
      chosen={chosen}
      values={values.map((value) => [value, wordOf(value)])}
      onChoose={(value) => changeQuery({ [name]: value })}
    />
  );
}

const factsOf = ({ at, binding = '', version, caller = '', agent = '' }: Shown) =>
  (
    [
      ['Began', clockTime(at)],
      ['Agent', agent],
      ['Caller', caller],
      ['Binding', [bindingName(binding), version].filter(Boolean).join(' ')],
    ] as const
  ).filter(([, value]) => value !== '');

/** The last part of the name of a binding that is a URL, without its version. */
const bindingName = (binding: string): string =>
  /^https?:/.test(binding) ? (binding.split('/').at(-2) ?? binding) : binding;

function RequestCells({ exchange }: { readonly exchange: Shown }) {
  const { at, operation, agent, caller, binding = '', status, endMs } = exchange;
  return (
    <>
      <span class="cell-task">
        <span class="cell-title">{operation}</span>
        <span class="cell-sub">
          <span class="mono">{clockTime(at).slice(0, 8)}</span>
          {agent && <AgentCell id={agent} />}
          {caller && <span>{caller}</span>}
          <span>{bindingName(binding)}</span>
        </span>
      </span>
      <span class="wire-status">{status ?? 'waiting'}</span>
      <span class="number muted">{endMs === undefined ? '…' : duration(endMs)}</span>
    </>
  );
}

/** A request and its response, as they were sent, and a line for the shell that sends it again. */
function ExchangeView({ exchange }: { readonly exchange: Shown }) {
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
          ...factsOf(exchange),
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
