/** What can be booked. */
export type Kind = 'flight' | 'hotel' | 'snowmobile' | 'spa';

/** What each kind comes after: its booking says where and when. */
export const comesAfter: Readonly<Record<Kind, Kind | undefined>> = {
  flight: undefined,
  hotel: 'flight',
  snowmobile: 'flight',
  spa: 'hotel',
};

const places: Readonly<Record<string, { readonly pattern: RegExp; readonly kinds: readonly Kind[] }>> = {
  Helsinki: { pattern: /helsinki|赫尔辛基/i, kinds: ['flight', 'hotel', 'snowmobile', 'spa'] },
  Rovaniemi: { pattern: /rovaniemi|罗瓦涅米/i, kinds: ['flight', 'hotel', 'snowmobile'] },
  Lisbon: { pattern: /lisbon|里斯本/i, kinds: ['flight', 'hotel', 'spa'] },
};

/** Whether this can be had there. */
export const isOffered = (kind: Kind, place: string): boolean => places[place]?.kinds.includes(kind) ?? false;

/** The place that a text mentions last, if trips go there. */
export function placeIn(said: string): string | undefined {
  const found = Object.entries(places).map(([name, { pattern }]) => ({
    name,
    at: Array.from(said.matchAll(new RegExp(pattern, 'gi'))).at(-1)?.index ?? -1,
  }));
  return found.filter(({ at }) => at >= 0).sort((a, b) => b.at - a.at)[0]?.name;
}

/** What the agent can do, as far as a text asks about it: where negotiations begin. */
export function offers(said: string): string {
  const place = placeIn(said);
  if (!place) return `I book flights, hotels, snowmobiles and spas, in ${Object.keys(places).join(', ')}.`;
  const kinds = places[place]!.kinds.map((kind) => `a ${kind}`).join(', ');
  return `In ${place} I can book ${kinds}. Each is a task of its own; hotel and snowmobile come after the flight, a spa after its hotel. Say "Book a flight".`;
}
