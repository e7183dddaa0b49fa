import { type AgentClient, type ClientTelemetry, connect } from '@batonjs/client';

/** The address of an agent and its timeout. */
export interface Remote {
  readonly url: string;
  /** How long one request to it may take, in milliseconds; 10,000 by default. */
  readonly timeoutMs?: number;
}

/** The agents that the concierge may call, by name. */
export type Remotes = Readonly<Record<string, Remote>>;

/** Thrown for a card that names an address of another origin than the card's own. */
export class CardError extends Error {
  override readonly name = 'CardError';
}

/** The bindings that the client of the concierge uses. Cards may list others, such as gRPC, which have a port of their own. */
const bindings = ['JSONRPC', 'HTTP+JSON'];

/** Connects to an agent. Throws `CardError` if its card names an interface at another origin. */
export async function openRemote(
  { url, timeoutMs = 10_000 }: Remote,
  telemetry?: ClientTelemetry,
): Promise<AgentClient> {
  const remote = await connect(url, { timeoutMs, telemetry });
  const { origin } = new URL(url);
  const used = remote.card.supportedInterfaces.filter(({ protocolBinding }) =>
    bindings.includes(protocolBinding),
  );
  const isElsewhere = used.some((each) => URL.parse(each.url)?.origin !== origin);
  if (isElsewhere) throw new CardError(`The card of ${url} names another place`);
  return remote;
}
