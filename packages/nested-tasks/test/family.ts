import { type AgentClient, type ConnectOptions, connect } from '@batonjs/client';
import { TASK_PROGRESS, TASK_TREE } from '@batonjs/extensions/client';
import { type CallingAgent, type NestedTasksOptions, nestedTasks } from '@batonjs/nested-tasks';
import type { AgentServer, AgentServerOptions } from '@batonjs/server';
import { serve } from '../../../test/kit/serve.ts';

const card = { name: 'Parent', description: 'Calls others' };

/** A client of an agent in this process that asks for the tree and for progress. */
export const clientOf = (server: AgentServer, options: ConnectOptions = {}): Promise<AgentClient> =>
  connect('http://localhost', {
    fetch: (request) => server.fetch(request),
    extensions: [TASK_TREE, TASK_PROGRESS],
    ...options,
  });

/** An agent that calls others, until the test ends. */
export function serveParent(
  agent: CallingAgent,
  nested: Partial<NestedTasksOptions> = {},
  options: Partial<AgentServerOptions> = {},
): AgentServer {
  const { agent: wrapped, ...rest } = nestedTasks({ card, agent, unreachableMs: 1_000, ...nested });
  return serve(wrapped, { ...rest, ...options, timeouts: { cancelGraceMs: 5_000, ...options.timeouts } });
}

/** All tasks of an agent in this process, with their history. */
export async function tasksOf(server: AgentServer) {
  const client = await clientOf(server);
  return (await client.listTasks({ historyLength: 100, includeArtifacts: true })).tasks;
}

/** The states of all tasks of an agent in this process, without the prefix of the wire. */
export const statesOf = async (server: AgentServer): Promise<string[]> =>
  (await tasksOf(server)).map(({ status }) => status.state.replace('TASK_STATE_', ''));
