import { useEffect, useState } from 'preact/hooks';

/** The pages of an agent. */
export type Tab = 'card' | 'tasks' | 'send' | 'graph' | 'webhooks' | 'wire';

/** Where the app is: `#/agents/<agent>/<tab>/<task>?…`. */
export interface Route {
  readonly agent?: string;
  readonly tab: Tab;
  readonly task?: string;
  readonly query: URLSearchParams;
}

const tabs: readonly string[] = ['card', 'tasks', 'send', 'graph', 'webhooks', 'wire'];

/** Reads an address of the app. */
export function readRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?');
  const [, root, agent, tab = '', task] = path.split('/').map(decodeURIComponent);
  return {
    tab: tabs.includes(tab) ? (tab as Tab) : 'tasks',
    query: new URLSearchParams(query),
    ...(root === 'agents' && agent && { agent }),
    ...(task && { task }),
  };
}

/** The address of a page. */
export function hrefOf(
  agent: string,
  tab: Tab,
  task?: string,
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const path = ['', 'agents', agent, tab, ...(task === undefined ? [] : [task])]
    .map(encodeURIComponent)
    .join('/');
  const set = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return `#${path}${set.length > 0 ? `?${new URLSearchParams(set)}` : ''}`;
}

/** The present address, read again whenever it changes. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => readRoute(location.hash));
  useEffect(() => {
    const change = () => setRoute(readRoute(location.hash));
    addEventListener('hashchange', change);
    return () => removeEventListener('hashchange', change);
  }, []);
  return route;
}
