import { A2AError } from '@batonjs/client';
import { sleep } from '@batonjs/protocol/timing';
import type { Turn } from '@batonjs/server';
import type { McpClient } from './mcp-client.ts';
import { cancelTask, getTask, isUnknownTask, serverOf, type ToolTask } from './tool-task.ts';

/** A wait for a task at an MCP server. Times in milliseconds. */
export interface TaskWait {
  readonly tool: string;
  /** The step of the call. */
  readonly step: string;
  /** The step of this wait. */
  readonly waitStep: string;
  readonly task: OpenTask;
  readonly longestPauseMs: number;
  readonly unreachableMs: number;
  /** Called with each status of the task. */
  readonly onStatus: (text: string) => void;
}

/** Milliseconds that a wait keeps its process. A longer one gives it back, where the agent may run again. */
const staysMs = 5_000;

/** Milliseconds of the first pause. Each further one is half as long again. */
const firstPauseMs = 6_000;

/** The next read of the task is due later. */
class NotYet extends Error {
  override readonly name = 'NotYet';
  readonly retryAfterMs: number;

  constructor(tool: string, retryAfterMs: number) {
    super(`The tool "${tool}" works on its task`);
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Waits until a task of a tool ends, or asks something. The wait is a step: it keeps the process for five seconds, then
 * the turn is paused until the next read, and any process goes on with it. Throws an `A2AError` that the client of the
 * agent may read: `TASK_NOT_FOUND` if the server forgot the task, `UNAVAILABLE` if it was out of reach for too long.
 */
export async function waitForTask(turn: Turn, client: McpClient, wait: TaskWait): Promise<ToolTask> {
  const { tool, step } = wait;
  const { taskId } = wait.task;
  const options = { retries: Number.POSITIVE_INFINITY, retryIf: (error: unknown) => error instanceof NotYet };
  const outcome = await turn.step(wait.waitStep, options, ({ signal, attempt }) =>
    readUntilNews(turn, client, wait, { signal, attempt }),
  );
  if ('task' in outcome) return outcome.task as ToolTask;
  await remember(turn, step, undefined);
  if (outcome.lost === 'forgotten')
    throw new A2AError(
      'TASK_NOT_FOUND',
      `The MCP server of the tool "${tool}" has no task ${taskId} any more`,
    );
  const seconds = wait.unreachableMs / 1_000;
  throw new A2AError('UNAVAILABLE', `The MCP server of the tool "${tool}" was out of reach for ${seconds} s`);
}

type Outcome = { readonly task: ToolTask } | { readonly lost: 'forgotten' | 'unreachable' };

/** One try: reads the task for some seconds, as often as the server advises. Throws when another try is due. */
async function readUntilNews(
  turn: Turn,
  client: McpClient,
  { tool, step, task: started, longestPauseMs, unreachableMs, onStatus }: TaskWait,
  { signal, attempt }: { readonly signal: AbortSignal; readonly attempt: number },
): Promise<Outcome> {
  const end = Date.now() + staysMs;
  const { taskId, answered = [] } = started;
  let intervalMs = started.pollIntervalMs ?? 1_000;
  // The handle is new in the first try; a later one comes from a pause.
  if (attempt === 1 && turn.attempt === 1) {
    if (intervalMs > staysMs) throw new NotYet(tool, intervalMs);
    await pause(intervalMs, signal);
  }
  for (;;) {
    const { unreachableSince, ...reached } = openTaskOf(turn, step) ?? started;
    try {
      const task = await getTask(client, taskId, signal);
      await remember(turn, step, reached);
      if (hasNews(task, answered)) return { task };
      if (task.statusMessage) onStatus(task.statusMessage);
      intervalMs = task.pollIntervalMs ?? intervalMs;
    } catch (error) {
      signal.throwIfAborted();
      if (isUnknownTask(error)) return { lost: 'forgotten' };
      const since = unreachableSince ?? Date.now();
      if (Date.now() - since >= unreachableMs) return { lost: 'unreachable' };
      await remember(turn, step, { ...reached, unreachableSince: since });
    }
    if (Date.now() + intervalMs > end) {
      const ms = Math.min(longestPauseMs, firstPauseMs * 1.5 ** Math.min(attempt - 1, 20));
      throw new NotYet(tool, Math.max(intervalMs, ms));
    }
    await pause(intervalMs, signal);
  }
}

const hasNews = ({ status, inputRequests = {} }: ToolTask, answered: readonly string[]): boolean => {
  if (status === 'input_required') return Object.keys(inputRequests).some((key) => !answered.includes(key));
  return status !== 'working';
};

/** Resolves after the time. Rejects with the reason of the signal. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, signal);
  signal.throwIfAborted();
}

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
