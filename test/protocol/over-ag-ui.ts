import { agUiHandler } from '@batonjs/ag-ui';
import { connect, isInterrupted, isTerminal, textOf } from '@batonjs/client';
import type { Task } from '@batonjs/protocol';
import type { AgentServer, AgentServerOptions } from '@batonjs/server';
import { expect, onTestFinished } from 'vitest';
import { type FrontEnd, linesOf, versions } from '../../packages/ag-ui/test/clients.ts';

/** Scenarios that front ends do not see, and why. */
const leftOut: readonly (readonly [why: string, is: (options: Partial<AgentServerOptions>) => unknown])[] = [
  ['Callers are separated in packages/ag-ui/test/ag-ui-handler.test.ts', ({ authenticate }) => authenticate],
  ['A front end names no tenant', ({ card }) => card?.tenants],
  ['A run is a stream', ({ card }) => typeof card === 'object' && card.capabilities?.streaming === false],
  [
    'A front end activates no extensions',
    ({ card }) => typeof card === 'object' && card.capabilities?.extensions?.some(({ required }) => required),
  ],
];

/** How a run ends for a task in this state: on AG-UI 0.0.59, and on 1.0 where that differs. */
const ends: Readonly<Record<string, readonly [object, object?]>> = {
  TASK_STATE_COMPLETED: [{ type: 'RUN_FINISHED', outcome: { type: 'success' } }],
  TASK_STATE_FAILED: [{ type: 'RUN_ERROR' }],
  TASK_STATE_REJECTED: [{ type: 'RUN_ERROR', code: 'REJECTED' }],
  TASK_STATE_CANCELED: [
    { type: 'RUN_ERROR', code: 'CANCELED' },
    { type: 'RUN_FINISHED', outcome: { type: 'cancelled' } },
  ],
  TASK_STATE_INPUT_REQUIRED: [{ type: 'RUN_FINISHED' }],
  TASK_STATE_AUTH_REQUIRED: [{ type: 'RUN_FINISHED', outcome: { type: 'interrupt' } }],
};

/**
 * When a test ends, front ends that speak AG-UI see what its agent did in each task that has ended or waits. Their
 * clients check the order of the events and their schemas. One setting is enough: a run is made of what the log has. Tasks
 * that still work are left out: packages/ag-ui/test/scenarios.test.ts has agents that are followed while they work.
 */
export function seenOverAgUi(server: AgentServer, options: Partial<AgentServerOptions>): void {
  if (leftOut.some(([, is]) => is(options))) return;
  onTestFinished(async () => {
    const tasks = await tasksOf(server);
    const { fetch } = agUiHandler(server);
    for (const task of tasks)
      for (const [version, open] of versions)
        await see(task, version, open('http://localhost', task.contextId, { fetch }));
  });
}

/** The tasks that have ended or wait, if the test has not closed the server. */
async function tasksOf(server: AgentServer): Promise<Task[]> {
  const client = await connect('http://localhost', { fetch: (request) => server.fetch(request) });
  const { tasks } = await client.listTasks({ pageSize: 5 });
  const whole = await Promise.all(tasks.map(({ id }) => client.getTask({ id })));
  return whole.filter((task) => isTerminal(task) || isInterrupted(task));
}

async function see(task: Task, version: string, front: FrontEnd): Promise<void> {
  const { history = [], artifacts = [], status } = task;
  const asked = history.find(({ role }) => role === 'ROLE_USER');
  if (!asked) return;
  // The message is known: the run joins its task.
  const content = asked.parts.flatMap((part) =>
    'text' in part ? [{ type: 'text' as const, text: part.text }] : [],
  );
  if (content.length < asked.parts.length) return;
  front.add({ id: asked.messageId, role: 'user', content });
  await front.run().catch(() => {});
  const [former, modern = former] = ends[status.state]!;
  expect(front.events.at(-1)).toMatchObject(version === '1.0.0' ? modern : former);
  const shown = linesOf(front).join('\n');
  for (const artifact of artifacts)
    if (artifact.name !== 'reasoning') expect(shown).toContain(textOf(artifact));
}
