import { parseAnswer } from '@batonjs/bindings';
import { saysOf } from '@batonjs/bindings/http-json';
import type { AgentCard } from '@batonjs/protocol';
import { isLoopback, JSON_TYPE, PROTOCOL_VERSION } from '@batonjs/protocol/headers';
import { ClientError } from '../client-error.ts';
import { readReply, startDeadline } from '../connection/call-deadline.ts';
import { exchange } from '../connection/exchange.ts';
import { type ConnectOptions, parseUrl, type Settings, toSettings } from '../options/connect-options.ts';
import { checkRefusal } from './read-card.ts';

/** An agent of a catalog. */
export interface CataloguedAgent {
  /** Its `displayName`, the name of a card in the catalog, or the last part of its identifier. */
  readonly name: string;
  /** What the catalog says of it, or a card in it. */
  readonly description?: string | undefined;
  /** For `connect`: the address of its card, or the card itself. */
  readonly card: string | AgentCard;
}

/**
 * The agents that a host lists in its AI Catalog (0.9 or 1), with those of catalogs in it, in their order. Reads at most 16
 * catalogs of 1 MiB each, 4 levels and 1,000 entries. Rejects with `INVALID_CARD` for another document, and with `NETWORK`.
 */
export function agentsOf(host: string | URL, options: ConnectOptions = {}): Promise<CataloguedAgent[]> {
  const settings = toSettings(options);
  settings.origins.add(parseUrl(host).origin);
  return readCatalog(parseUrl(host), settings);
}

/** The only agent that an origin lists, where it has no card. Rejects with the error of the card, or names those to choose from. */
export async function onlyAgentOf(agent: string | URL, error: unknown, settings: Settings) {
  const url = parseUrl(agent);
  if (url.pathname !== '/' || !ClientError.is(error, 'INVALID_CARD')) throw error;
  const agents = await readCatalog(url, settings).catch(() => []);
  const [first] = agents;
  if (first && agents.length === 1) return first.card;
  if (!first) throw error;
  const shown = agents
    .slice(0, 20)
    .map(({ name, card }) => `${name}${typeof card === 'string' ? ` (${card})` : ''}`);
  throw invalid(
    url.origin,
    `has no card, but lists ${agents.length} agents: connect to one of ${shown.join(', ')}`,
  );
}

const invalid = (at: string, problem: string) => new ClientError('INVALID_CARD', `${at} ${problem}`);

async function readCatalog(host: URL, settings: Settings): Promise<CataloguedAgent[]> {
  const agents: CataloguedAgent[] = [];
  const seen = new Set<string>();
  let entries = 0;
  // A cycle has nothing new.
  const follow = async (url: string, depth: number) => {
    if (seen.has(url) || seen.add(url).size > 16) return;
    const [catalog, from] = await fetchJson(url, settings);
    await read(catalog, from, depth);
  };
  const read = async (catalog: unknown, base: string, depth: number) => {
    const { specVersion, entries: list } = Object(catalog);
    if (!Array.isArray(list) || !/^(0\.9|1)(\.|$)/.test(specVersion))
      throw invalid(base, 'is no AI Catalog 0.9 or 1');
    for (const entry of list) {
      if (++entries > 1_000) throw invalid(base, 'lists more than 1,000 entries');
      const { identifier, displayName, description, type, url, data } = Object(entry);
      const card = data === undefined ? allowed(url, base) : Object(data);
      if (card === undefined) continue;
      const said = description ?? data?.description;
      if (type === 'application/a2a-agent-card+json')
        agents.push({
          name: String(displayName ?? data?.name ?? String(identifier).replace(/^.*[:/]/, '')),
          ...(said !== undefined && { description: String(said) }),
          card,
        });
      if (type === 'application/ai-catalog+json' && depth < 4)
        await (typeof card === 'string' ? follow(card, depth + 1) : read(card, base, depth + 1));
    }
  };
  await follow(new URL('/.well-known/ai-catalog.json', host).href, 1);
  return agents;
}

/** An address that a catalog may name: of its own origin, or with TLS and not of this machine or a network of its own. */
function allowed(address: unknown, base: string): string | undefined {
  if (typeof address !== 'string' || !URL.canParse(address, base)) return undefined;
  const { href, origin, protocol, hostname } = new URL(address, base);
  const isInside = isLoopback(hostname) || inside.test(hostname);
  return origin === new URL(base).origin || (protocol === 'https:' && !isInside) ? href : undefined;
}

const inside = /^(0|10|169\.254|192\.168|172\.(1[6-9]|2\d|3[01]))\.|^\[(f[cde]|::)/i;

/** The JSON at an address, and the address that it came from: a redirect leads where a catalog may lead. */
async function fetchJson(url: string, settings: Settings): Promise<[json: unknown, from: string]> {
  const deadline = startDeadline({}, settings, url);
  try {
    const context = { settings, extensions: [], version: PROTOCOL_VERSION, signal: deadline.signal };
    const response = await exchange({ method: 'GET', url, headers: { accept: JSON_TYPE } }, context);
    const reply = await readReply(response, Math.min(settings.maxResponseBytes, 1_048_576), url);
    checkRefusal(reply);
    if (reply.status === 200 && allowed(reply.url, url)) return [parseAnswer(reply.body), reply.url];
    throw invalid(saysOf(reply), 'and is no AI Catalog');
  } catch (error) {
    throw deadline.classify(error);
  } finally {
    deadline.close();
  }
}
