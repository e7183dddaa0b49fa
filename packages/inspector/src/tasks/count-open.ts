import type { AgentStore } from '../agents/inspected.ts';
import { mostCounted, type OpenCounts } from '../api/agent.ts';

/** How many tasks of an agent are open, for the callers that are shown first. */
export async function countOpen({ tasks, scopes }: AgentStore): Promise<OpenCounts> {
  const [first] = scopes;
  const count = async (...states: readonly OpenState[]) => {
    let sum = 0;
    for (const state of states)
      if (first)
        sum += (await tasks.list(first.scope, { state, limit: 1, totalAtMost: mostCounted + 1 })).total;
    return Math.min(sum, mostCounted + 1);
  };
  return {
    asking: await count('TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'),
    working: await count('TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'),
  };
}

type OpenState = `TASK_STATE_${'INPUT_REQUIRED' | 'AUTH_REQUIRED' | 'SUBMITTED' | 'WORKING'}`;
