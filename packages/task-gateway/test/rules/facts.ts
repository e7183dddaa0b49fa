import { FACT_FORMAT, type Fact, type Head, headOf } from '@batonjs/lifecycle';
import type { Json, Part, TaskState } from '@batonjs/protocol';
import type { TaskStore } from '@batonjs/store';
import { type Note, noteMessage } from '../../src/tasks/gateway-task.ts';
import type { TaskLog } from '../../src/tasks/task-log.ts';

const common = { format: FACT_FORMAT, at: '2026-01-01T00:00:00.000Z' } as const;

/** A status as the gateway writes it. */
const changed = (state: string, note: Note, at: string = common.at): Fact => {
  const status = { state: `TASK_STATE_${state}` as TaskState, timestamp: at, message: noteMessage('', note) };
  return { ...common, at, type: 'status-changed', status };
};

/** The status of a task that waits for an answer at its agent. */
export const asking = (note: Note): Fact => changed('AUTH_REQUIRED', note);

/** The status with which the server continues the turn of a process that left a task waiting. */
export const continued: Fact = {
  ...common,
  type: 'status-changed',
  status: { state: 'TASK_STATE_WORKING', timestamp: common.at },
};

/** The facts of a task that goes through these states: a message, the task, and one status each. */
export function factsOf(
  taskId: string,
  states: readonly string[],
  { data = {}, at = common.at, type = 'work' }: { data?: Json; at?: string; type?: string } = {},
): Fact[] {
  const written = { ...common, at };
  const parts = [{ data } as Part];
  const message = { messageId: taskId, contextId: type, role: 'ROLE_USER' as const, parts };
  return [
    { ...written, type: 'message-received', message, caller: { submission: 'first' } } as Fact,
    { ...written, type: 'task-created', taskId, contextId: type },
    ...states.map((state) => changed(state, {}, at)),
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
