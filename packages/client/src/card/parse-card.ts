import type { AgentCard } from '@batonjs/protocol';
import type { Settings } from '../options/settings.ts';
import { withoutNulls } from '../replies/without-nulls.ts';

/** The card without `null` members, translated to A2A 1.0 if it is of another version that the client supports. */
export const parseCard = (raw: unknown, { compatibility }: Settings): Partial<AgentCard> | null => {
  const card = withoutNulls(raw);
  return (
    compatibility.map((other) => other.decodeCard(card)).find(Boolean) ?? (card as Partial<AgentCard> | null)
  );
};
