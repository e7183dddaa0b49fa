import { toHeaders } from '@batonjs/bindings';
import { remember } from '@batonjs/protocol/bounded-map';
import { A2AError, errorTable } from '@batonjs/protocol/errors';
import { AGENT_CARD_PATH, JSON_TYPE } from '@batonjs/protocol/headers';
import type { Caller } from '../../agent/caller.ts';
import { consoleLogger } from '../../base/hooks/logger.ts';
import { toWireError } from '../../operations/call/wire-error.ts';
import { type Authenticate, callerOf } from '../calls/caller-limits.ts';
import { revalidated } from './card-reply.ts';
import { createFetch } from './fetch.ts';
import { type Handle, type HttpExchange, refusal } from './request-body.ts';

/** An agent of a catalog. */
export interface CatalogAgent {
  /** The last part of its identifier, unique in the catalog, such as `expenses`. */
  readonly name: string;
  /** Where it is served, without the path of its card: absolute, or relative to the origin of the catalog. */
  readonly url: string;
  /** What a list shows of it. Leave it out where its card says the same. */
  readonly description?: string | undefined;
}

/** How a catalog is served. */
export interface CatalogOptions {
  /** The domain that publishes the agents, for their identifiers. Default: the host of the catalog. */
  readonly publisher?: string | undefined;
  /** The origin of the catalog. Needed where an agent needs its `publicUrl`. */
  readonly publicUrl?: string | undefined;
  /** Who may read it. Default: everyone. */
  readonly authenticate?: Authenticate | undefined;
  /** Whether a caller sees an agent. Default: each caller sees all. */
  readonly shows?: ((agent: CatalogAgent, caller: Caller | undefined) => boolean) | undefined;
}

const catalogPath = '/.well-known/ai-catalog.json';
const linksetPath = '/.well-known/api-catalog';
const catalogType = 'application/ai-catalog+json';
const linksetType = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';

/**
 * Serves the agents of an origin as an AI Catalog 0.9 and, for RFC 9727, as links. Mount it at its two paths:
 * `app.all(/^\/\.well-known\/(ai-catalog\.json|api-catalog)$/, a2aExpress(catalog))`. Throws `TypeError` for names that are
 * none, or there twice.
 */
export function catalogOf(
  agents: readonly CatalogAgent[],
  { publisher, publicUrl, authenticate, shows = () => true }: CatalogOptions = {},
): { readonly handle: Handle; readonly fetch: (request: Request) => Promise<Response> } {
  const names = agents.map(({ name }) => name).filter((name) => /^[\w.-]+$/.test(name));
  if (new Set(names).size < agents.length)
    throw new TypeError(
      'Each agent of a catalog needs a name of its own, of letters, digits, `-`, `_` and `.`',
    );
  const made = new Map<string, string>();
  const caching: Record<string, string> = authenticate
    ? { 'cache-control': 'private, no-cache', vary: 'authorization, cookie' }
    : { 'cache-control': 'public, max-age=60', 'access-control-allow-origin': '*' };
  async function answer(exchange: HttpExchange) {
    const { path, method, baseUrl } = exchange;
    if (exchange.refusal) throw exchange.refusal;
    if (path !== catalogPath && path !== linksetPath) throw new A2AError('METHOD_NOT_FOUND');
    if (method !== 'GET' && method !== 'HEAD')
      throw new A2AError('METHOD_NOT_ALLOWED', undefined, { metadata: { allow: 'GET, HEAD' } });
    const caller = await callerOf(exchange, authenticate);
    const known = publicUrl ?? baseUrl;
    if (known === undefined) throw new A2AError('INTERNAL_ERROR', 'The catalog needs its `publicUrl`');
    const { origin, hostname } = new URL(known);
    const shown = agents.map((agent) => shows(agent, caller));
    const key = [path, origin, shown.map(Number).join('')].join(' ');
    const body =
      made.get(key) ??
      toBody(
        path,
        origin,
        publisher ?? hostname,
        agents.filter((_, index) => shown[index]),
      );
    remember(made, key, body, 100);
    const type = path === catalogPath ? catalogType : linksetType;
    const link = `<${linksetPath}>; rel="api-catalog", <${catalogPath}>; rel="ai-catalog"`;
    return revalidated({ status: 200, headers: { ...caching, 'content-type': type, link }, body }, exchange);
  }
  const handle: Handle = (exchange) =>
    answer(exchange).catch((error: unknown) => {
      const wire = toWireError(error, consoleLogger, { path: exchange.path });
      return refusal(errorTable[wire.reason].http, wire.message, {
        'cache-control': 'no-store',
        ...toHeaders(wire),
      });
    });
  return { handle, fetch: createFetch(handle, '') };
}

function toBody(path: string, origin: string, publisher: string, agents: readonly CatalogAgent[]): string {
  const cards = agents.map(({ name, url, description }) => {
    const at = new URL(url, origin).href.replace(/\/$/, '');
    return { identifier: `urn:air:${publisher}:a2a:${name}`, at, url: at + AGENT_CARD_PATH, description };
  });
  const type = 'application/a2a-agent-card+json';
  const entries = cards.map(({ at: _, ...entry }) => ({ type, ...entry }));
  if (path === catalogPath) return JSON.stringify({ specVersion: '0.9', entries });
  const item = cards.map(({ at: href }) => ({ href }));
  const described = cards.map(({ at: anchor, url: href }) => ({
    anchor,
    'service-desc': [{ href, type: JSON_TYPE }],
  }));
  const catalog = { href: origin + catalogPath, type: catalogType };
  return JSON.stringify({
    linkset: [{ anchor: origin + path, item, 'service-meta': [catalog] }, ...described],
  });
}
