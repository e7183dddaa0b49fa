import type { AgentCard, GetExtendedAgentCardRequest } from '@batonjs/protocol';
import type { CallContext, Dependencies } from './call/call-context.ts';

/** GetExtendedAgentCard. Spec: §3.1.11. */
export const getExtendedAgentCard = (
  { tenant }: GetExtendedAgentCardRequest,
  { baseUrl, caller }: CallContext,
  { cards }: Dependencies,
): Promise<AgentCard> => cards.extended({ baseUrl, tenant }, caller);
