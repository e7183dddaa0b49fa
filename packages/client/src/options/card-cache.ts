import { httpJsonClient } from '@batonjs/bindings/http-json';
import type { AgentCard } from '@batonjs/protocol';
import { AGENT_CARD_PATH, JSON_TYPE, PROTOCOL_VERSION } from '@batonjs/protocol/headers';
import { ClientError } from '../client-error.ts';
import { openScope } from '../connection/call-scope.ts';
import { exchange, readText } from '../connection/exchange.ts';
import { pauseAfter } from '../connection/retries.ts';
import { withoutNulls } from '../replies/without-nulls.ts';
import { parseUrl } from './http-url.ts';
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

/**
 * Where the card of an agent stands: below its URL, unless that ends in `.json` and is the card's own. Throws `INVALID_URL`.
 * Spec: §8.2.
 */
export function cardUrl(agent: string | URL): string {
  const url = parseUrl(agent);
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
  const { cards, clock } = settings;
  const cached = cards.get(url);
  if (cached && cached.freshUntil > clock.now()) return cached.card;
  const scope = openScope(options, settings, url);
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const { card, etag, maxAge } = await fetchCard(url, cached, settings, {
          ...options,
          signal: scope.signal,
        });
        cards.set(url, { card, etag, freshUntil: clock.now() + maxAge * 1_000 });
        return card;
      } catch (error) {
        const failure = scope.classify(error);
        const pause = pauseAfter(failure, attempt, settings);
        if (pause === undefined) throw failure;
        await clock.sleep(pause, scope.signal);
      }
    }
  } finally {
    scope.close();
  }
}

async function fetchCard(
  url: string,
  cached: CachedCard | undefined,
  settings: Settings,
  options: CallOptions & { signal: AbortSignal },
) {
  const headers = { accept: JSON_TYPE, ...(cached?.etag && { 'if-none-match': cached.etag }) };
  const { extensions, maxResponseBytes } = settings;
  const context = { ...options, settings, extensions, version: PROTOCOL_VERSION };
  const response = await exchange({ method: 'GET', url, headers }, context);
  const { status, headers: told } = response;
  const body = await readText(response, maxResponseBytes);
  const known = status === 304 ? cached : undefined;
  return {
    card: known?.card ?? (await toCard(url, status, body, told, settings)),
    etag: told.get('etag') ?? known?.etag ?? null,
    maxAge: Number(/max-age=(\d+)/.exec(told.get('cache-control') ?? '')?.[1] ?? 0),
  };
}

/** A card of another version in the words of 1.0, or the value itself. */
export const translated = (card: unknown, { compatibility }: Settings): Partial<AgentCard> | null =>
  compatibility.map((other) => other.decodeCard(card)).find(Boolean) ?? (card as Partial<AgentCard> | null);

/** Rejects with `UNTRUSTED_CARD` unless whoever uses the client trusts the card. */
export async function trust(card: unknown, { verifyCard }: Settings): Promise<void> {
  const untrusted = (cause?: unknown) =>
    new ClientError('UNTRUSTED_CARD', 'The agent card is not to be trusted', cause);
  let verdict: unknown;
  try {
    verdict = await verifyCard?.(card as AgentCard);
  } catch (cause) {
    throw untrusted(cause);
  }
  if (verdict === false) throw untrusted();
}

async function toCard(
  url: string,
  status: number,
  body: string,
  headers: Headers,
  settings: Settings,
): Promise<AgentCard> {
  const invalid = (what: string) => new ClientError('INVALID_CARD', `${url} ${what}`);
  if (status === 401 || status === 403 || status === 429 || status >= 500) {
    httpJsonClient.decodeReply({ operation: 'GetExtendedAgentCard', params: {} }, { status, headers, body });
  }
  if (status !== 200) throw invalid(`answers ${status}, not with an agent card`);
  let raw: unknown;
  try {
    raw = JSON.parse(body);
  } catch {
    throw invalid('is not JSON');
  }
  await trust(raw, settings);
  const card = translated(withoutNulls(raw), settings);
  if (!Array.isArray(card?.supportedInterfaces) || card.supportedInterfaces.length === 0) {
    throw invalid('is no agent card of A2A 1.0: it has no supportedInterfaces');
  }
  return card as AgentCard;
}
