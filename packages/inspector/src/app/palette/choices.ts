import type { AgentSummary } from '../../api/agent.ts';
import { hrefOf, type Place, placeHref, placeNames } from '../data/route.ts';
import type { IconName } from '../parts/icon.tsx';

/** Something to go to. */
export interface PaletteChoice {
  readonly name: string;
  /** The keys that go there at once, or what it is. */
  readonly note: string;
  readonly icon: IconName;
  readonly href: string;
}

/** The key after `g` that goes to a page. */
const keys: Readonly<Record<Exclude<Place, 'compare'>, string>> = {
  tasks: 't',
  inbox: 'i',
  charts: 'c',
  schedules: 's',
  requests: 'r',
  activity: 'a',
};

const places = ['tasks', 'inbox', 'charts', 'schedules', 'requests', 'activity'] as const;

const icons = {
  tasks: 'tasks',
  inbox: 'inbox',
  charts: 'charts',
  schedules: 'schedules',
  requests: 'wire',
  activity: 'status',
} as const;

/** The address that keys go to; undefined if they go nowhere. */
export function shortcutOf(pressed: string): string | undefined {
  const place = places.find((each) => pressed === `g${keys[each]}`);
  return place && placeHref(place);
}

/** The pages of all agents, and for each agent its tasks and a new message. */
export const fixedChoices = (agents: readonly AgentSummary[]): readonly PaletteChoice[] => [
  ...places.map((place) => ({
    name: placeNames[place],
    note: `g ${keys[place]}`,
    icon: icons[place],
    href: placeHref(place),
  })),
  ...agents.flatMap(({ id, name, canCall }) => [
    { name, note: 'tasks', icon: 'agent' as const, href: hrefOf(id, 'tasks') },
    ...(canCall
      ? [{ name: `Send to ${name}`, note: 'message', icon: 'send' as const, href: hrefOf(id, 'send') }]
      : []),
  ]),
];
