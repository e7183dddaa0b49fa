import type { AgentCard } from '@batonjs/protocol';
import { type AgentClient, createAgentClient } from './agent-client.ts';
import { cardUrl, readCard, translated, trust } from './card-cache.ts';
import { Session } from './session.ts';
import { type CallOptions, type ConnectOptions, toSettings } from './settings.ts';

/**
 * Reads the card of an agent and picks the interface to talk to: the first that this client speaks. A URL is that of the
 * agent (its card is below it) or of the card itself. Rejects with a `ClientError`: `NETWORK`, `INVALID_CARD`,
 * `UNTRUSTED_CARD`, `NO_INTERFACE`. Spec: §8.2, §8.3.2.
 */
export async function connect(
  agent: string | URL | AgentCard,
  options: ConnectOptions = {},
): Promise<AgentClient> {
  const settings = toSettings(options);
  if (typeof agent === 'object' && !(agent instanceof URL)) {
    await trust(agent, settings);
    const card = translated(agent, settings) as AgentCard;
    return createAgentClient(new Session(card, settings), async () => card);
  }
  const url = cardUrl(agent);
  const read = (call?: CallOptions) => readCard(url, settings, call);
  return createAgentClient(new Session(await read(), settings), read);
}
