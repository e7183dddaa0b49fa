import { type Fact, isInterrupted, isTerminal } from '@batonjs/lifecycle';

/**
 * How a log has settled a message: it closed, or it waits for an answer or authorization after a turn took the message.
 */
export type Settled = 'closed' | 'input-required' | 'auth-required';

/**
 * Watches facts for the one that settles a message. A message settles when its log closes, or when a turn that took it
 * asks for something: an earlier question was not asked about it.
 */
export function settling(messageId: string): (fact: Fact) => Settled | undefined {
  let taken = false;
  return (fact) => {
    if (fact.type === 'turn-started') taken ||= fact.messageIds.includes(messageId);
    if (fact.type === 'message-taken') taken ||= fact.messageId === messageId;
    if (fact.type === 'answered') return 'closed';
    if (fact.type !== 'status-changed') return undefined;
    const { state } = fact.status;
    if (isTerminal(state)) return 'closed';
    if (!taken || !isInterrupted(state)) return undefined;
    return state === 'TASK_STATE_INPUT_REQUIRED' ? 'input-required' : 'auth-required';
  };
}
