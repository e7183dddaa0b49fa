import { type Fact, isInterrupted, isTerminal } from '@batonjs/lifecycle';

/**
 * Which updates a webhook gets: every one (`all`); without chunks of artifacts that have more to come (`default`); only
 * that the task ended, or waits for its client or an authorization (`significant`).
 */
export type PushUpdates = 'default' | 'all' | 'significant';

/** Whether a fact is delivered. */
export function isWanted(fact: Fact, updates: PushUpdates): boolean {
  if (fact.type === 'status-changed') {
    const { state } = fact.status;
    return updates !== 'significant' || isTerminal(state) || isInterrupted(state);
  }
  if (fact.type !== 'artifact-updated') return false;
  return updates === 'all' || (updates === 'default' && (!fact.append || fact.lastChunk));
}
