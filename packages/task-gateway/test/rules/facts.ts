import { FACT_FORMAT, type Fact, type Head, headOf } from '@batonjs/lifecycle';
import type { Json, Part, TaskState } from '@batonjs/protocol';
import type { TaskStore } from '@batonjs/store';
import type { TaskLog } from '../../src/tasks/task-log.ts';

/** The facts of a task that goes through these states: a message, the task, and one status each. */
export function factsOf(
  taskId: string,
  states: readonly string[],
  {
    data = {},
    at = '2026-01-01T00:00:00.000Z',
    type = 'work',
  }: { data?: Json; at?: string; type?: string } = {},
): Fact[] {
  const common = { format: FACT_FORMAT, at } as const;
  const parts = [{ data } as Part];
  const message = { messageId: taskId, contextId: type, role: 'ROLE_USER' as const, parts };
  return [
    { ...common, type: 'message-received', message, caller: { submission: 'first' } } as Fact,
    { ...common, type: 'task-created', taskId, contextId: type },
    ...states.map((state): Fact => {
      const status = { state: `TASK_STATE_${state}` as TaskState, timestamp: at };
      return { ...common, type: 'status-changed', status };
    }),
  ];
}

const heads = new WeakMap<TaskLog, Map<string, Head>>();

/** Writes facts of a task of `ada`, after a version. */
export async function writeTo(
  tasks: TaskLog,
  taskId: string,
  facts: readonly Fact[],
  version = 0,
): Promise<void> {
  const { scope, id } = tasks.addressOf('ada', taskId);
  const known = heads.get(tasks) ?? new Map<string, Head>();
  heads.set(tasks, known);
  const head = facts.reduce<Head | undefined>(headOf, known.get(id))!;
  known.set(id, head);
  const commit = { scope, taskId: id, commitId: `${id} ${version}`, expectedVersion: version, facts, head };
  // The gateway only reads there; the store of these tests takes commits as well.
  await (tasks.store as TaskStore).commit(commit);
}
