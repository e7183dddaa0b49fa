import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Action, AgentSummary, Overview } from '../api/agent.ts';
import { hrefOf, type Place, placeHref, places, type Route, type Tab, tabs } from './data/route.ts';
import { useAct, useAgent, useMay, useSession } from './data/session.ts';
import { ShareDialog } from './pages/share-dialog.tsx';
import { ActButton, Icon } from './parts/bits.tsx';
import { Select } from './parts/choice.tsx';

/** The actions that change nothing at an agent. */
const looks: readonly Action[] = ['fetch-file', 'add-agent', 'read-requests', 'share'];

interface ShellProps {
  readonly route: Route;
  readonly overview: Overview;
  /** How long the last loss of the connection took, in milliseconds, while that is news. */
  readonly backAfterMs: number | undefined;
  readonly children: ComponentChildren;
}

/** What stands around every page: the agents, the pages of the chosen one, and the state of the connection. */
export function Shell({ route, overview, backAfterMs, children }: ShellProps) {
  const agent = useAgent(route.agent ?? '');
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the page
      </button>
      <SideBar route={route} overview={overview} />
      <div class="main-column">
        {agent && <Tabs agent={agent} tab={route.tab} />}
        <Banner backAfterMs={backAfterMs} />
        <main id="main" class="page" tabIndex={-1}>
          {children}
        </main>
      </div>
    </div>
  );
}

function SideBar({ route, overview }: Pick<ShellProps, 'route' | 'overview'>) {
  const { may, viewer } = useSession();
  const asking = Object.values(overview).reduce((sum, each) => sum + each.asking, 0);
  const isReadOnly = !may.some((action) => !looks.includes(action));
  const shown = (Object.keys(places) as Place[]).filter(
    (place) => place !== 'requests' || may.includes('read-requests'),
  );
  return (
    <aside class="side-bar">
      <div class="brand">
        <span class="brand-mark" aria-hidden="true" />
        <span>Baton inspector</span>
      </div>
      <nav aria-label="All agents" class="places">
        {shown.map((place) => {
          const [name, icon] = places[place];
          if (!icon) return null;
          return (
            <a
              key={place}
              class="agent-link"
              href={placeHref(place)}
              aria-current={route.place === place ? 'page' : undefined}
            >
              <Icon name={icon} />
              <span class="agent-name">{name}</span>
              {place === 'inbox' && asking > 0 && <span class="open-count is-asking">{asking}</span>}
            </a>
          );
        })}
      </nav>
      <div class="side-foot">
        <ShareDialog />
        <KillButton />
        <div class="side-row">
          <span class={`mode ${isReadOnly ? 'mode-read' : ''}`}>
            {isReadOnly && <Icon name="lock" />}
            {isReadOnly ? 'Read only' : (viewer ?? 'Can send and cancel')}
          </span>
        </div>
      </div>
    </aside>
  );
}

function Banner({ backAfterMs }: Pick<ShellProps, 'backAfterMs'>) {
  const { isLost } = useSession();
  return (
    <div class="banner-place" aria-live="polite">
      {isLost && (
        <p class="banner banner-lost">
          <Icon name="connection" />
          The connection to the inspector is lost. It is tried again until it is back.
        </p>
      )}
      {!isLost && backAfterMs !== undefined && (
        <p class="banner banner-back">
          <Icon name="check" />
          Back after {(backAfterMs / 1_000).toFixed(1)} s. Everything went on where it was.
        </p>
      )}
    </div>
  );
}

function Tabs({ agent, tab }: { readonly agent: AgentSummary; readonly tab: Tab }) {
  const nav = useRef<HTMLElement>(null);
  const { agents } = useSession();
  // On a narrow screen the tabs are one row that scrolls.
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [tab]);
  return (
    <nav ref={nav} class="tabs" aria-label={`Pages of ${agent.name}`}>
      <Select
        label="Switch to"
        chosen={agent.id}
        values={agents.map(({ id, name }) => [id, name])}
        onChoose={(id) => {
          location.hash = hrefOf(id, tab);
        }}
      />
      {(Object.keys(tabs) as Tab[]).map((name) => (
        <a
          key={name}
          class="tab"
          href={hrefOf(agent.id, name)}
          aria-current={name === tab ? 'page' : undefined}
        >
          <Icon name={tabs[name][1]} />
          {tabs[name][0]}
        </a>
      ))}
    </nav>
  );
}

function KillButton() {
  const mayKill = useMay('kill');
  // The process dies while it answers.
  const { act, isBusy } = useAct();
  if (!mayKill) return null;
  return (
    <ActButton
      kind="danger"
      class="kill"
      disabled={isBusy}
      onClick={() => void act('/kill')}
      title="SIGKILL. A parent process starts it again."
    >
      <Icon name="kill" />
      Kill the process
    </ActButton>
  );
}
