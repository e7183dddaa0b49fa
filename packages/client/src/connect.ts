import type { AgentCard } from '@batonjs/protocol';
import { type AgentClient, createAgentClient } from './agent-client.ts';
import { candidatesOf } from './connection/interfaces.ts';
import { Session } from './connection/session.ts';
import { cardUrl, readCard, translated, trust } from './options/card-cache.ts';
import { type CallOptions, type ConnectOptions, toSettings } from './options/settings.ts';
import { withoutNulls } from './replies/without-nulls.ts';

/**
 * Reads the card of an agent and picks the interface to talk to: the first that this client speaks. A URL is that of the
 * agent (its card is below it) or of the card itself. Rejects with a `ClientError`: `NETWORK`, `INVALID_CARD`,
 * `INVALID_URL`, `UNTRUSTED_CARD`, `NO_INTERFACE`. Spec: §8.2, §8.3.2.
 */
export async function connect(
  agent: string | URL | AgentCard,
  options: ConnectOptions = {},
): Promise<AgentClient> {
  const settings = toSettings(options);
  if (typeof agent === 'object' && !(agent instanceof URL)) {
    await trust(agent, settings);
    const card = translated(withoutNulls(agent), settings) as AgentCard;
    for (const { url } of candidatesOf(card, settings)) settings.origins.add(new URL(url).origin);
    return createAgentClient(new Session(card, settings), async () => card);
  }
  const url = cardUrl(agent);
  settings.origins.add(new URL(url).origin);
  const read = (call?: CallOptions) => readCard(url, settings, call);
  return createAgentClient(new Session(await read(), settings), read);
}
