import type { Scope } from '@batonjs/store';
import type { AgentStore } from '../agents/inspected.ts';
import { mostCounted, type OpenCounts } from '../api/agent.ts';

/** How many tasks of an agent are open, for the callers that are shown first. */
export async function countOpen({ tasks, scopes: [first] }: AgentStore): Promise<OpenCounts> {
  return {
    asking: first ? await count(tasks, first.scope, askingStates) : 0,
    working: first ? await count(tasks, first.scope, ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING']) : 0,
  };
}

/** How many tasks wait for an answer of callers that are not shown; 0 if the store does not count them. */
export async function countHidden({ tasks, scopes, queue }: AgentStore): Promise<number> {
  const { questions = {} } = (await tasks.measure?.(queue)) ?? {};
  let hidden = Object.values(questions).reduce((sum, number) => sum + number, 0);
  for (const { scope } of hidden > 0 ? scopes : []) hidden -= await count(tasks, scope, askingStates);
  return Math.max(0, hidden);
}

async function count(
  tasks: AgentStore['tasks'],
  scope: Scope,
  states: readonly OpenState[],
): Promise<number> {
  let sum = 0;
  for (const state of states)
    sum += (await tasks.list(scope, { state, limit: 1, totalAtMost: mostCounted + 1 })).total;
  return Math.min(sum, mostCounted + 1);
}

type OpenState = `TASK_STATE_${'INPUT_REQUIRED' | 'AUTH_REQUIRED' | 'SUBMITTED' | 'WORKING'}`;
const askingStates = ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'] as const;
