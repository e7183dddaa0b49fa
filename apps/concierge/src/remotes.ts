import { type AgentClient, connect } from '@batonjs/client';

/** How an agent is reached. */
export interface Remote {
  readonly url: string;
  /** Milliseconds until it must have answered; 10,000 by default. */
  readonly patienceMs?: number;
}

/** The agents that can be asked, by name. */
export type Remotes = Readonly<Record<string, Remote>>;

/** A card that says what cannot be. */
export class CardError extends Error {
  override readonly name = 'CardError';
}

/** A client of an agent. Throws `CardError` if its card sends us to somebody else. */
export async function openRemote(
  { url, patienceMs = 10_000 }: Remote,
  signal?: AbortSignal,
): Promise<AgentClient> {
  signal?.throwIfAborted();
  const remote = await connect(url, { timeoutMs: patienceMs, retry: { attempts: 6 } });
  const { origin } = new URL(url);
  const isElsewhere = remote.card.supportedInterfaces.some((each) => URL.parse(each.url)?.origin !== origin);
  if (isElsewhere) throw new CardError(`The card of ${url} names another place`);
  return remote;
}
