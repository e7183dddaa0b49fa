import { type IncomingReply, parseAnswer } from '@batonjs/bindings';
import { httpJsonClient, saysOf } from '@batonjs/bindings/http-json';
import type { AgentCard } from '@batonjs/protocol';
import { AGENT_CARD_PATH, JSON_TYPE, PROTOCOL_VERSION } from '@batonjs/protocol/headers';
import { ClientError } from '../client-error.ts';
import { readReply, startDeadline } from '../connection/call-deadline.ts';
import { exchange } from '../connection/exchange.ts';
import { pauseAfter } from '../connection/retries.ts';
import { type CachedCard, type CallOptions, parseUrl, type Settings } from '../options/connect-options.ts';
import { withoutNulls } from '../replies/without-nulls.ts';

/**
 * The URL of an agent's card: the well-known path below the agent's URL, or the URL itself if it ends in `.json`.
 * Throws `INVALID_URL`. Spec: §8.2.
 */
export function cardUrl(agent: string | URL): string {
  const url = parseUrl(agent);
  if (!url.pathname.endsWith('.json')) url.pathname = url.pathname.replace(/\/$/, '') + AGENT_CARD_PATH;
  return url.href;
}

/**
 * Reads a card, from the cache while it is fresh; a stale one is revalidated by its `ETag`. Rejects with
 * `INVALID_CARD` if the response is not a card. Spec: §8.6.2.
 */
export async function readCard(
  url: string,
  settings: Settings,
  options: CallOptions = {},
): Promise<AgentCard> {
  const { cards, clock } = settings;
  const cached = cards.get(url);
  if (cached && cached.freshUntil > clock.now()) return cached.card;
  const deadline = startDeadline(options, settings, url);
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const { card, etag, maxAge } = await fetchCard(url, cached, settings, {
          ...options,
          signal: deadline.signal,
        });
        cards.set(url, { card, etag, freshUntil: clock.now() + maxAge * 1_000 });
        return card;
      } catch (error) {
        const failure = deadline.classify(error);
        const pause = pauseAfter(failure, attempt, settings);
        if (pause === undefined) throw failure;
        await clock.sleep(pause, deadline.signal);
      }
    }
  } finally {
    deadline.close();
  }
}

/** The most bytes of a card. Those of agents with a hundred skills have a tenth of it. */
const longestCard = 1_048_576;

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
  const reply = await readReply(response, Math.min(maxResponseBytes, longestCard), url);
  const { headers: received } = reply;
  const unchanged = reply.status === 304 ? cached : undefined;
  return {
    card: unchanged?.card ?? (await cardIn(reply, settings)),
    etag: received.get('etag') ?? unchanged?.etag ?? null,
    maxAge: Number(/max-age=(\d+)/.exec(received.get('cache-control') ?? '')?.[1] ?? 0),
  };
}

/** Throws the error of an answer that refuses its caller, or of a server that is not well. */
export function checkRefusal(reply: IncomingReply): void {
  if ([401, 403, 429].includes(reply.status) || reply.status >= 500)
    httpJsonClient.decodeReply({ operation: 'GetExtendedAgentCard', params: {} }, reply);
}

async function cardIn(reply: IncomingReply, settings: Settings): Promise<AgentCard> {
  const { status } = reply;
  const invalid = (problem: string) => new ClientError('INVALID_CARD', `${saysOf(reply)}, which ${problem}`);
  checkRefusal(reply);
  if (status !== 200) throw invalid('is no card');
  const raw = parseAnswer(reply.body);
  if (raw === undefined) throw invalid('is not JSON');
  await checkTrust(raw, settings);
  const card = parseCard(raw, settings);
  if (!Array.isArray(card?.supportedInterfaces) || card.supportedInterfaces.length === 0)
    throw invalid('has no supportedInterfaces');
  return card as AgentCard;
}

/** Passes a card to the `verifyCard` option. Rejects with `UNTRUSTED_CARD` if that rejects or returns `false`. */
export async function checkTrust(card: unknown, { verifyCard }: Settings): Promise<void> {
  const untrusted = (cause?: unknown) =>
    new ClientError(
      'UNTRUSTED_CARD',
      `The agent card is not to be trusted${cause instanceof Error ? `: ${cause.message}` : ''}`,
      cause,
    );
  let verdict: unknown;
  try {
    verdict = await verifyCard?.(card as AgentCard);
  } catch (cause) {
    throw untrusted(cause);
  }
  if (verdict === false) throw untrusted();
}

/** The card without `null` members, translated to A2A 1.0 if it is of another version that the client supports. */
export const parseCard = (raw: unknown, { compatibility }: Settings): Partial<AgentCard> | null => {
  const card = withoutNulls(raw);
  return (
    compatibility.map((other) => other.decodeCard(card)).find(Boolean) ?? (card as Partial<AgentCard> | null)
  );
};
