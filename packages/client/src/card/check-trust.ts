import type { AgentCard } from '@batonjs/protocol';
import { ClientError } from '../client-error.ts';
import type { Settings } from '../options/settings.ts';

/** Passes a card to the `verifyCard` option. Rejects with `UNTRUSTED_CARD` if that rejects or returns `false`. */
export async function checkTrust(card: unknown, { verifyCard }: Settings): Promise<void> {
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
