import { httpJsonClient } from '@batonjs/bindings/http-json';
import type { AgentCard } from '@batonjs/protocol';
import { AGENT_CARD_PATH, JSON_TYPE, PROTOCOL_VERSION } from '@batonjs/protocol/headers';
import { openScope } from './call-scope.ts';
import { ClientError } from './client-error.ts';
import { exchange, readText } from './exchange.ts';
import type { CallOptions, Settings } from './settings.ts';

/** A card as it was read. */
export interface CachedCard {
  readonly card: AgentCard;
  readonly etag: string | null;
  /** Milliseconds since 1970 until which it need not be read again. */
  readonly freshUntil: number;
}

/** Cards by their address; a `Map` will do. */
export interface CardCache {
  get(url: string): CachedCard | undefined;
  set(url: string, card: CachedCard): unknown;
}

/** Where the card of an agent stands: below its URL, unless that ends in `.json` and is the card's own. Spec: §8.2. */
export function cardUrl(agent: string | URL): string {
  const url = new URL(agent);
  if (!url.pathname.endsWith('.json')) url.pathname = url.pathname.replace(/\/$/, '') + AGENT_CARD_PATH;
  return url.href;
}

/**
 * Reads a card, from the cache while it is fresh there; a stale one is asked for by its `ETag`. Rejects with
 * `INVALID_CARD` where none stands. Spec: §8.6.2.
 */
export async function readCard(
  url: string,
  settings: Settings,
  options: CallOptions = {},
): Promise<AgentCard> {
  const { cards, clock, maxResponseBytes, extensions } = settings;
  const cached = cards.get(url);
  if (cached && cached.freshUntil > clock.now()) return cached.card;
  const scope = openScope(options, settings);
  try {
    const headers = { accept: JSON_TYPE, ...(cached?.etag && { 'if-none-match': cached.etag }) };
    const request = { method: 'GET', url, headers };
    const context = { ...options, settings, extensions, version: PROTOCOL_VERSION, signal: scope.signal };
    const response = await exchange(request, context);
    const { status, headers: told } = response;
    const body = await readText(response, maxResponseBytes);
    const known = status === 304 ? cached : undefined;
    const card = known?.card ?? toCard(url, status, body, told);
    const maxAge = /max-age=(\d+)/.exec(told.get('cache-control') ?? '')?.[1];
    cards.set(url, {
      card,
      etag: told.get('etag') ?? known?.etag ?? null,
      freshUntil: clock.now() + Number(maxAge ?? 0) * 1_000,
    });
    return card;
  } catch (error) {
    throw scope.classify(error);
  } finally {
    scope.close();
  }
}

function toCard(url: string, status: number, body: string, headers: Headers): AgentCard {
  const invalid = (what: string) => new ClientError('INVALID_CARD', `${url} ${what}`);
  if (status === 401 || status === 403 || status === 429 || status >= 500) {
    httpJsonClient.decodeReply({ operation: 'GetExtendedAgentCard', params: {} }, { status, headers, body });
  }
  if (status !== 200) throw invalid(`answers ${status}, not with an agent card`);
  let card: Partial<AgentCard> | null;
  try {
    card = JSON.parse(body);
  } catch {
    throw invalid('is not JSON');
  }
  if (!Array.isArray(card?.supportedInterfaces) || card.supportedInterfaces.length === 0) {
    throw invalid('is no agent card of A2A 1.0: it has no supportedInterfaces');
  }
  return card as AgentCard;
}
