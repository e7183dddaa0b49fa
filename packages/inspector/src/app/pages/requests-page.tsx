import { useEffect, useState } from 'preact/hooks';
import type { ClientExchange, ClientExchangeUpdate } from '../../api/wire.ts';
import { changeQuery, noteQuery } from '../data/route.ts';
import { useAgent, useFeeds, useMay, useSession } from '../data/session.ts';
import { AgentMark } from '../parts/agent-mark.tsx';
import { Empty, Loading, ProblemNote } from '../parts/bits.tsx';
import { Choice } from '../parts/choice.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { clockTime, dateTime, duration, fileSize, plural } from '../parts/words.ts';
import { ExchangeView } from './exchange-view.tsx';

type About = Extract<ClientExchangeUpdate, { type: 'open' }>;

/** The latest requests of all clients, and how many are kept. */
function useRequests() {
  const openFeed = useFeeds();
  const [about, setAbout] = useState<About>();
  const [requests, setRequests] = useState<ReadonlyMap<number, ClientExchange>>(new Map());
  const [refusal, setRefusal] = useState<string>();
  useEffect(() => {
    let most = 0;
    return openFeed<ClientExchangeUpdate>({
      path: () => '/requests',
      onRefused: ({ message }) => setRefusal(message),
      onValue(update) {
        if (update.type === 'open') {
          most = update.exchanges;
          setAbout(update);
          // Another process counts anew.
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
  }, []);
  return { about, refusal, requests };
}

/** The members of the address by which requests are chosen. */
const members = ['agent', 'caller', 'operation'] as const;
type Member = (typeof members)[number];
const allNames: Readonly<Record<Member, string>> = {
  agent: 'All agents',
  caller: 'All callers',
  operation: 'All operations',
};

/** What all clients sent to the agents of the inspector's process. The filter stands in the address. */
export function RequestsPage({ query }: { readonly query: URLSearchParams }) {
  const may = useMay('read-requests');
  if (!may)
    return (
      <Empty icon="wire" title="The requests of clients are not kept">
        The program that runs the inspector keeps them with <code>clientRequests</code>, for viewers who may{' '}
        <code>read-requests</code>.
      </Empty>
    );
  return <Requests query={query} />;
}

function Requests({ query }: { readonly query: URLSearchParams }) {
  const { about, refusal, requests } = useRequests();
  const [chosen, setChosen] = useState(() => Number(query.get('number')) || undefined);
  const all = [...requests.values()].sort((one, other) => other.number - one.number);
  const rows = all.filter((exchange) =>
    members.every((name) => !query.get(name) || exchange[name] === query.get(name)),
  );
  const exchange = (chosen === undefined ? undefined : requests.get(chosen)) ?? rows[0];
  const choose = (index: number) => {
    setChosen(rows[index]?.number);
    noteQuery({ number: String(rows[index]?.number ?? '') });
  };
  if (refusal) return <ProblemNote problem={{ message: refusal }} />;
  if (!about) return <Loading what="Reading the requests" />;
  return (
    <div class="wire-page requests-page">
      <header class="page-head">
        <h1>All requests</h1>
        <span class="muted">
          Of all clients, answered by process {about.pid} since {dateTime(about.since)}: the last{' '}
          {about.exchanges.toLocaleString('en')}, in at most {fileSize(about.bytes)}. Credentials are left
          out.
        </span>
      </header>
      <div class="filters">
        {members.map((name) => (
          <MemberChoice key={name} name={name} chosen={query.get(name) ?? ''} all={all} />
        ))}
        <span class="spacer" />
        <span class="muted list-count" role="status">
          {plural(rows.length, 'request')}
        </span>
      </div>
      {rows.length === 0 || !exchange ? (
        <Empty icon="wire" title={all.length > 0 ? 'No request fits' : 'No request yet'}>
          {all.length > 0
            ? 'Choose another agent, caller or operation.'
            : 'Requests appear here as clients send them.'}
        </Empty>
      ) : (
        <div class="panes">
          <section class="pane pane-wire" aria-label="Requests of clients">
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
            <ExchangeView exchange={exchange} facts={factsOf(exchange)} />
          </section>
        </div>
      )}
    </div>
  );
}

interface MemberChoiceProps {
  readonly name: Member;
  readonly chosen: string;
  readonly all: readonly ClientExchange[];
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
      all={allNames[name]}
      chosen={chosen}
      values={values.map((value) => [value, wordOf(value)])}
      onChoose={(value) => changeQuery({ [name]: value })}
    />
  );
}

const factsOf = ({ at, binding = '', version, caller, agent }: ClientExchange) =>
  (
    [
      ['Began', clockTime(at)],
      ['Agent', agent],
      ['Caller', caller ?? ''],
      ['Binding', [bindingName(binding), version].filter(Boolean).join(' ')],
    ] as const
  ).filter(([, value]) => value !== '');

/** The last part of the name of a binding that is a URL, without its version. */
const bindingName = (binding: string): string =>
  /^https?:/.test(binding) ? (binding.split('/').at(-2) ?? binding) : binding;

function RequestCells({ exchange }: { readonly exchange: ClientExchange }) {
  const agent = useAgent(exchange.agent);
  const { at, operation, caller, binding = '', status, endMs } = exchange;
  return (
    <>
      <span class="cell-task">
        <span class="cell-title">{operation}</span>
        <span class="cell-sub">
          <span class="mono">{clockTime(at).slice(0, 8)}</span>
          <span class="cell-agent">
            <AgentMark id={exchange.agent} name={agent?.name ?? exchange.agent} />
            {agent?.name ?? exchange.agent}
          </span>
          {caller && <span>{caller}</span>}
          <span>{bindingName(binding)}</span>
        </span>
      </span>
      <span class="wire-status">{status ?? 'waiting'}</span>
      <span class="number muted">{endMs === undefined ? '…' : duration(endMs)}</span>
    </>
  );
}
