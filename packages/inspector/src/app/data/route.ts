import { useEffect, useState } from 'preact/hooks';
import { queryOf } from './api.ts';

/** The pages of an agent: the name and the picture of each. */
export const tabs = {
  tasks: ['Tasks', 'tasks'],
  send: ['Send', 'send'],
  wire: ['Requests', 'wire'],
  card: ['Card', 'card'],
} as const;
export type Tab = keyof typeof tabs;

/** The pages of all agents. One without a picture is reached from others only. */
export const places = {
  fleet: ['Agents', 'agent'],
  tasks: ['All tasks', 'tasks'],
  inbox: ['Inbox', 'inbox'],
  schedules: ['Schedules', 'schedules'],
  requests: ['All requests', 'wire'],
  activity: ['Activity', 'status'],
  compare: ['Compare'],
} as const;
export type Place = keyof typeof places;

const isIn = <Name extends string>(names: Readonly<Record<Name, unknown>>, name: string): name is Name =>
  Object.hasOwn(names, name);

/** Where the app is: `#/agents/<agent>/<tab>/<task>?…`, or `#/<place>?…`. */
export interface Route {
  readonly place?: Place;
  readonly agent?: string;
  readonly tab: Tab;
  readonly task?: string;
  readonly query: URLSearchParams;
}

/** Reads an address of the app. */
export function readRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?');
  const [, root = '', agent, tab = '', task] = path.split('/').map(decodeURIComponent);
  return {
    tab: isIn(tabs, tab) ? tab : 'tasks',
    query: new URLSearchParams(query),
    ...(isIn(places, root) && { place: root }),
    ...(root === 'agents' && agent && { agent }),
    ...(task && { task }),
  };
}

type Query = Readonly<Record<string, string | undefined>>;

/** The address of a page of an agent. */
export function hrefOf(agent: string, tab: Tab, task?: string, query: Query = {}): string {
  const path = ['', 'agents', agent, tab, ...(task === undefined ? [] : [task])]
    .map(encodeURIComponent)
    .join('/');
  return `#${path}${queryOf(query)}`;
}

/** The address of a task, in one of the agent's scopes. */
export const taskHref = (agent: string, task: string, scope: number): string =>
  hrefOf(agent, 'tasks', task, scope > 0 ? { scope: String(scope) } : {});

/** The address of a page of all agents. */
export const placeHref = (place: Place, query: Query = {}): string => `#/${place}${queryOf(query)}`;

/** The present address with other members of its query; an empty one is left out. */
function changed(query: Query): string {
  const [path, before = ''] = location.hash.split('?');
  return path + queryOf({ ...Object.fromEntries(new URLSearchParams(before)), ...query });
}

/** Changes the query of the present address, without a step back to the one before. */
export const changeQuery = (query: Query): void => location.replace(changed(query));

/** How long an address stays as it is while a slider moves, in milliseconds: browsers refuse many changes. */
const noteAfterMs = 150;
let noting: ReturnType<typeof setTimeout> | undefined;

/** Does the same a moment later, without telling the app, which knows it already. */
export function noteQuery(query: Query): void {
  const [page] = location.hash.split('?');
  clearTimeout(noting);
  noting = setTimeout(() => {
    if (location.hash.split('?')[0] === page) history.replaceState(null, '', changed(query));
  }, noteAfterMs);
}

/** The list that was shown last, for the way back from a task. */
let lastList: string | undefined;
export const rememberList = (): void => {
  lastList = location.hash;
};
export const listBefore = (): string | undefined => lastList;

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
