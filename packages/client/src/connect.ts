import type { AgentCard } from '@batonjs/protocol';
import { type AgentClient, createAgentClient } from './agent-client.ts';
import { cardUrl, checkTrust, parseCard, readCard } from './card/read-card.ts';
import { candidatesOf } from './connection/retries.ts';
import { Session } from './connection/session.ts';
import { type CallOptions, type ConnectOptions, toSettings } from './options/connect-options.ts';

/**
 * Reads an agent's card and chooses an interface: the first one that this client supports. A URL is either the agent's,
 * with the card below it, or the card's own. Rejects with a `ClientError`: `NETWORK`, `INVALID_CARD`, `INVALID_URL`,
 * `UNTRUSTED_CARD` or `NO_INTERFACE`. Spec: §8.2, §8.3.2.
 */
export async function connect(
  agent: string | URL | AgentCard,
  options: ConnectOptions = {},
): Promise<AgentClient> {
  const settings = toSettings(options);
  if (typeof agent === 'object' && !(agent instanceof URL)) {
    await checkTrust(agent, settings);
    const card = parseCard(agent, settings) as AgentCard;
    for (const { address } of candidatesOf(card, settings)) settings.origins.add(new URL(address).origin);
    return createAgentClient(new Session(card, settings), async () => card);
  }
  const url = cardUrl(agent);
  settings.origins.add(new URL(url).origin);
  const read = (call?: CallOptions) => readCard(url, settings, call);
  return createAgentClient(new Session(await read(), settings), read);
}
