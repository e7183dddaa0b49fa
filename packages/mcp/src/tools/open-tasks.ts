import type { Turn } from '@batonjs/server';
import type { McpClient } from './mcp-client.ts';
import { cancelTask, isUnknownTask, serverOf } from './tool-task.ts';

/** Where the tasks of tools stand in the memory of the task. */
const OPEN = 'batonjs.dev/mcp-tasks';

/** A task at an MCP server that has not ended, as far as is known. Its id may be all that a server asks for. */
export interface OpenTask {
  readonly taskId: string;
  readonly server: string;
  readonly pollIntervalMs?: number;
  /** The questions that were answered: the server may show them for a while. */
  readonly answered?: readonly string[];
  /** Milliseconds since 1970 from which on the server was out of reach. */
  readonly unreachableSince?: number;
}

type OpenTasks = Readonly<Record<string, OpenTask>>;

const openIn = ({ memory }: Pick<Turn, 'memory'>): OpenTasks => memory.get<OpenTasks>(OPEN) ?? {};

/** The task of a step. */
export const openTaskOf = (turn: Turn, step: string): OpenTask | undefined =>
  Object.hasOwn(openIn(turn), step) ? openIn(turn)[step] : undefined;

/** Remembers the task of a step, or that it has ended. One commit, and none where nothing changes. */
export async function remember(turn: Turn, step: string, task: OpenTask | undefined): Promise<void> {
  const { [step]: before, ...others } = openIn(turn);
  if (JSON.stringify(before) === JSON.stringify(task)) return;
  const next = task ? { ...others, [step]: task } : others;
  if (Object.keys(next).length === 0) await turn.memory.delete(OPEN);
  else await turn.memory.set(OPEN, next);
}

/**
 * Cancels the tasks of tools that a task of an agent waits for, where no turn of it runs that could: give it to
 * `createAgentServer` as `onCancel: (turn) => cancelToolTasks(turn, client)`. Each server is asked for its own tasks
 * alone. Rejects if one of them cannot be reached.
 */
export async function cancelToolTasks(turn: Turn, ...clients: readonly McpClient[]): Promise<void> {
  const open = Object.values(openIn(turn));
  const canceling = open.flatMap(({ taskId, server }) =>
    clients.filter((client) => serverOf(client) === server).map((client) => cancelTask(client, taskId)),
  );
  const failed = (await Promise.allSettled(canceling)).find(
    (each) => each.status === 'rejected' && !isUnknownTask(each.reason),
  );
  if (failed?.status === 'rejected') throw failed.reason;
}
