import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { AgentSummary, Overview, SessionInfo } from '../api/agent.ts';
import { type ApiError, type FeedState, get, keepToken } from './data/api.ts';
import { changeQuery, places, type Route, useRoute } from './data/route.ts';
import { SessionContext, useAgent, useGet } from './data/session.ts';
import { InboxPage } from './inbox/inbox-page.tsx';
import { TasksPage } from './list/tasks-page.tsx';
import { ActivityPage } from './pages/activity-page.tsx';
import { CardPage } from './pages/card-page.tsx';
import { FleetPage } from './pages/fleet-page.tsx';
import { RequestsPage } from './pages/requests-page.tsx';
import { SchedulesPage } from './pages/schedules-page.tsx';
import { SendPage } from './pages/send-page.tsx';
import { Button, Guarded, Icon, Loading, ProblemNote, TextField } from './parts/bits.tsx';
import { Select } from './parts/choice.tsx';
import { Shell } from './shell.tsx';
import { ComparePage } from './task/compare-page.tsx';
import { TaskPage } from './task/task-page.tsx';

/** How long until the cards that were not read yet are asked for again, in milliseconds. */
const unreadMs = 1_000;
/** How often the counts of all agents are read again, in milliseconds. */
const overviewMs = 3_000;
/** How long the news that the connection is back stays, in milliseconds. */
const newsMs = 6_000;

/** The whole app. `refusal`: why the link that the browser was opened with opens nothing. */
export function App({ refusal }: { readonly refusal: string | undefined }) {
  const route = useRoute();
  const [info, setInfo] = useState<SessionInfo>();
  const [error, setError] = useState<ApiError>();
  const refresh = useCallback(() => {
    get<SessionInfo>('/session').then((fresh) => {
      setInfo(fresh);
      setError(undefined);
    }, setError);
  }, []);
  useEffect(refresh, [refresh]);
  useEffect(() => {
    if (!info?.agents.some(isUnread)) return;
    const timer = setTimeout(refresh, unreadMs);
    return () => clearTimeout(timer);
  }, [info, refresh]);
  const { isLost, backAfterMs, onFeed } = useConnection(refresh);
  const session = useMemo(
    () => info && { ...info, refresh, onFeed, isLost },
    [info, refresh, onFeed, isLost],
  );

  const { value: overview = {} } = useGet<Overview>(session && '/overview', overviewMs);

  if (error?.status === 401) return <TokenPage message={refusal ?? error.message} onToken={refresh} />;
  if (error && !session)
    return (
      <main class="token-page">
        <ProblemNote problem={error.problem} onRetry={refresh} />
      </main>
    );
  if (!session) return <Loading what="Opening" />;
  return (
    <SessionContext.Provider value={session}>
      <Shell route={route} overview={overview} backAfterMs={backAfterMs}>
        <Page route={route} overview={overview} />
      </Shell>
    </SessionContext.Provider>
  );
}

/** Whether the connection to the inspector is lost, or has just come back: then everything is read again. */
function useConnection(refresh: () => void) {
  const [isLost, setLost] = useState(false);
  const [backAfterMs, setBackAfterMs] = useState<number>();
  const lostAt = useRef<number | undefined>(undefined);
  const feeds = useRef(0);
  const onFeed = useCallback(
    (state: FeedState | 'begun' | 'over') => {
      if (state === 'begun') feeds.current += 1;
      if (state === 'over') feeds.current -= 1;
      if (state === 'begun' || state === 'over') return;
      if (state === 'lost') {
        lostAt.current ??= Date.now();
        setLost(true);
        return;
      }
      if (lostAt.current === undefined) return;
      setBackAfterMs(Date.now() - lostAt.current);
      lostAt.current = undefined;
      setLost(false);
      refresh();
    },
    [refresh],
  );
  useEffect(() => {
    if (!isLost) return;
    // A page without a feed would not see that the connection is back.
    const timer = setInterval(() => {
      if (feeds.current === 0)
        get('/session').then(
          () => onFeed('open'),
          () => {},
        );
    }, unreadMs);
    return () => clearInterval(timer);
  }, [isLost, onFeed]);
  useEffect(() => {
    if (backAfterMs === undefined) return;
    const timer = setTimeout(() => setBackAfterMs(undefined), newsMs);
    return () => clearTimeout(timer);
  }, [backAfterMs]);
  return { isLost, backAfterMs, onFeed };
}

interface PageProps {
  readonly route: Route;
  readonly overview: Overview;
}

function Page({
  route: { agent, place = agent ? undefined : 'fleet', tab, task, query },
  overview,
}: PageProps) {
  const summary = useAgent(agent ?? '');
  const where = place ? places[place][0] : summary?.name;
  const title = [task, where, 'Baton inspector'].filter(Boolean).join(' · ');
  useEffect(() => {
    document.title = title;
  }, [title]);
  if (place)
    return (
      <Guarded key={place}>
        {place === 'fleet' && <FleetPage overview={overview} />}
        {place === 'tasks' && <TasksPage agent={undefined} query={query} />}
        {place === 'inbox' && <InboxPage query={query} />}
        {place === 'schedules' && <SchedulesPage />}
        {place === 'requests' && <RequestsPage agent={undefined} query={query} />}
        {place === 'activity' && <ActivityPage query={query} />}
        {place === 'compare' && <ComparePage query={query} />}
      </Guarded>
    );
  if (!agent || !summary) return <ProblemNote problem={`The inspector knows no agent ${agent}`} />;
  const scope = Number(query.get('scope') ?? 0);
  const pages = {
    card: () => <CardPage key={agent} agent={agent} />,
    send: () => <SendPage key={agent} agent={agent} query={query} />,
    wire: () => <RequestsPage key={agent} agent={agent} query={query} />,
    tasks: () =>
      task === undefined ? (
        <TasksPage key={agent} agent={agent} query={query} />
      ) : (
        <TaskPage
          key={`${agent} ${task}`}
          agent={agent}
          task={task}
          scope={scope}
          at={Number(query.get('at')) || undefined}
        />
      ),
  };
  return (
    <>
      {summary.scopes.length > 1 && (
        <Select
          class="scope-choice"
          label="Tasks of"
          chosen={query.get('scope') ?? ''}
          values={[
            ['', 'all callers'],
            ...summary.scopes.map((label, index) => [`${index}`, label] as const),
          ]}
          onChoose={(scope) => changeQuery({ scope })}
        />
      )}
      <Guarded key={`${agent} ${tab} ${task ?? ''}`}>{pages[tab]()}</Guarded>
    </>
  );
}

/** The inspector answers before an agent that takes long has shown its card. */
const isUnread = ({ canCall, description, problem }: AgentSummary): boolean =>
  canCall && description === undefined && problem === undefined;

/** Asks for the token, for a browser that was opened without it. */
function TokenPage({ message, onToken }: { readonly message: string; readonly onToken: () => void }) {
  const [text, setText] = useState('');
  return (
    <main class="token-page">
      <Icon name="lock" />
      <h1>Open the inspector</h1>
      <p>{message}. Use the address that was printed when the inspector started, or paste it here.</p>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          keepToken(text);
          onToken();
        }}
      >
        <TextField label="Printed address, or token" class="mono" value={text} onText={setText} />
        <Button type="submit" kind="main">
          Open
        </Button>
      </form>
    </main>
  );
}
