/** The kinds of bookings. */
export type Kind = 'flight' | 'hotel' | 'snowmobile' | 'spa';

/** The kind that must be booked before each kind: that booking says where and when. */
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

/** The kinds that are offered in a city. */
export const offeredIn = (place: string): readonly Kind[] => places[place]?.kinds ?? [];

/** Whether a kind is offered in a city. */
export const isOffered = (kind: Kind, place: string): boolean => offeredIn(place).includes(kind);

/** The last city that a text mentions, if trips go there. */
export function placeIn(said: string): string | undefined {
  const found = Object.entries(places).map(([name, { pattern }]) => ({
    name,
    at: Array.from(said.matchAll(new RegExp(pattern, 'gi'))).at(-1)?.index ?? -1,
  }));
  return found.filter(({ at }) => at >= 0).sort((a, b) => b.at - a.at)[0]?.name;
}

/** The agent's offers that fit a question: the start of a negotiation. */
export function offers(said: string): string {
  const place = placeIn(said);
  if (!place) return `I book flights, hotels, snowmobiles and spas, in ${Object.keys(places).join(', ')}.`;
  const kinds = places[place]!.kinds.map((kind) => `a ${kind}`).join(', ');
  return `In ${place} I can book ${kinds}. Each is a task of its own; hotel and snowmobile come after the flight, a spa after its hotel. Say "Book a flight", or "Book the whole trip".`;
}
