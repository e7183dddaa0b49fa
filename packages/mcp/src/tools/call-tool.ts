import { progress, TASK_PROGRESS } from '@batonjs/extensions';
import { type TaskUpdate, type Turn, working } from '@batonjs/server';
import { type McpClient, mustBeClient2, ToolError, type ToolResult, throwIfError } from './mcp-client.ts';
import { ask, openRequest, type PendingCall, pendingIn, pendingOf } from './pending-call.ts';
import {
  cancelTask,
  handleIn,
  isUnknownTask,
  receiveHandles,
  serverOf,
  type ToolTask,
  updateTask,
} from './tool-task.ts';
import { type OpenTask, openTaskOf, remember, waitForTask } from './wait-for-task.ts';

/** Options of `callTool`. */
export interface CallToolOptions {
  /** The name of the step, used once in a turn. Default: the tool's name and how often the turn called it. */
  readonly step?: string | undefined;
  /** Milliseconds without progress after which the call fails. Default 300,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * The longest pause in milliseconds between two reads of a task that the tool answered with: they become rarer, and
   * never more frequent than its server advises. Default 30,000.
   */
  readonly longestPauseMs?: number | undefined;
  /** Milliseconds that the server of such a task may be out of reach before the call fails. Default 600,000. */
  readonly unreachableMs?: number | undefined;
}

type Arguments = Readonly<Record<string, unknown>>;

/**
 * Calls a tool of an MCP server from an agent: `const result = yield* callTool(turn, client, 'search', { query })`.
 *
 * The call is a step of the turn: a later attempt of the turn gets its result instead of calling again. Progress of the
 * tool becomes updates of the task, and a task that is canceled cancels the call. A question of the server (protocol
 * 2026-07-28) ends the turn; in the turn of the answer, the same call of the agent goes on with it. Throws a
 * `ToolError` if the tool failed, and a `TypeError` for a client of the SDK 1.
 *
 * A client that declares the extension `io.modelcontextprotocol/tasks` may get the handle of a task instead of a result.
 * It is recorded as the result of the step. Then the call waits for the task, without a process where that takes long
 * (`restart: 'rerun'`). Throws an `A2AError` if the server forgot the task (`TASK_NOT_FOUND`), or is out of reach
 * (`UNAVAILABLE`): an agent that does not catch it fails with that code and a sentence.
 */
export async function* callTool(
  turn: Turn,
  client: McpClient,
  name: string,
  args: Arguments = {},
  options: CallToolOptions = {},
): AsyncGenerator<TaskUpdate, ToolResult, void> {
  mustBeClient2(client);
  receiveHandles(client);
  const step = options.step ?? nextStep(turn, name);
  let pending = pendingOf(turn, step, args);
  let postponed = 0;
  for (;;) {
    if (pending && openRequest(pending) !== undefined) {
      yield ask(turn, pending);
      // The question ended the turn. A turn that goes on all the same is a test without a server.
      turn.signal.throwIfAborted();
      return { content: [], isError: true };
    }
    const round: number = pending ? pending.round + 1 : 0;
    const call = { turn, client, name, args, step, round, pending, options };
    const asking = pending?.ofTask ? openTaskOf(turn, step) : undefined;
    const result = asking ? undefined : yield* request(call);
    const task = asking ? await answerTask(call, asking) : startedTask(result, client);
    if (task) {
      const ended = yield* awaitTask(call, task);
      if ('result' in ended) return throwIfError(name, ended.result);
      pending = pendingIn(name, { step, args, round, ofTask: true }, ended.asks);
      continue;
    }
    pending = result && pendingIn(name, { step, args, round }, result);
    if (!pending) return throwIfError(name, result ?? { content: [] });
    if (openRequest(pending) !== undefined) continue;
    // A server that asks nothing wants to be called again later.
    if (++postponed > mostPostponed)
      throw new ToolError(name, `The tool "${name}" put the call off ${postponed} times without a question`);
    await new Promise((resolve) => setTimeout(resolve, postponedMs));
  }
}

/** How often a server may put a call off in a turn, and milliseconds until the next attempt; as in the SDK's client. */
const mostPostponed = 10;
const postponedMs = 250;

/** One request of a call. */
interface Request {
  readonly turn: Turn;
  readonly client: McpClient;
  readonly name: string;
  readonly args: Arguments;
  readonly step: string;
  readonly round: number;
  readonly pending: PendingCall | undefined;
  readonly options: CallToolOptions;
}

/** One request, as a step. */
async function* request(asked: Request): AsyncGenerator<TaskUpdate, ToolResult, void> {
  const { turn, client, name, args, step, round, pending, options } = asked;
  const answered = pending && {
    inputResponses: pending.responses,
    ...(pending.requestState !== undefined && { requestState: pending.requestState }),
  };
  return (yield* updatesUntil((show) =>
    turn.step(nameOfRound(step, round), () =>
      client.callTool(
        { name, arguments: { ...args }, ...answered },
        {
          signal: turn.signal,
          timeout: options.timeoutMs ?? 300_000,
          resetTimeoutOnProgress: true,
          allowInputRequired: true,
          onprogress: ({ progress: done, total, message }) =>
            show(working(message ?? `Calling ${name}`, progressMetadata(turn, done, total))),
        },
      ),
    ),
  )) as ToolResult;
}

/** The step of a request: the first, or the one after an answer. */
const nameOfRound = (step: string, round: number): string =>
  round === 0 ? step : `${step} after answer ${round}`;

/**
 * Yields what `show` is given while something is under way, and returns what that gives. A tool that reports faster than
 * the store commits loses the updates between: the latest one that was not taken counts.
 */
async function* updatesUntil<T>(
  begin: (show: (update: TaskUpdate) => void) => Promise<T>,
): AsyncGenerator<TaskUpdate, T, void> {
  const latest: TaskUpdate[] = [];
  let changed = Promise.withResolvers<void>();
  const underWay = begin((update) => {
    latest[0] = update;
    changed.resolve();
  });
  let isOver = false;
  const end = () => {
    isOver = true;
    changed.resolve();
  };
  underWay.then(end, end);
  while (!isOver || latest.length > 0) {
    if (latest.length === 0) await changed.promise;
    changed = Promise.withResolvers();
    const update = latest.pop();
    if (update) yield update;
  }
  return await underWay;
}

/** The task that a server answered with. */
function startedTask(result: ToolResult | undefined, client: McpClient): OpenTask | undefined {
  const handle = result && handleIn(result);
  if (!handle) return undefined;
  const { taskId, pollIntervalMs } = handle;
  return { taskId, server: serverOf(client), ...(pollIntervalMs !== undefined && { pollIntervalMs }) };
}

/** Gives a task the answers of the user. They count once, however often they are sent. */
async function answerTask(asked: Request, task: OpenTask): Promise<OpenTask> {
  const { turn, client, step, round, pending } = asked;
  const responses = pending?.responses ?? {};
  await turn.step(nameOfRound(step, round), async () => {
    await updateTask(client, task.taskId, responses, turn.signal).catch((error: unknown) => {
      // The wait finds out that the server forgot it.
      if (!isUnknownTask(error)) throw error;
    });
  });
  const answered = [...new Set([...(task.answered ?? []), ...Object.keys(responses)])];
  return { ...task, answered };
}

/** Waits for a task at the server, with its status messages as updates. */
async function* awaitTask(
  { turn, client, name, step, round, options }: Request,
  task: OpenTask,
): AsyncGenerator<TaskUpdate, { readonly result: ToolResult } | { readonly asks: object }, void> {
  const known = openTaskOf(turn, step);
  await remember(turn, step, known?.taskId === task.taskId ? { ...known, ...task } : task);
  let last: string | undefined;
  let ended: ToolTask;
  try {
    ended = yield* updatesUntil((show) =>
      waitForTask(turn, client, {
        tool: name,
        step,
        waitStep: `${nameOfRound(step, round)} task`,
        task,
        longestPauseMs: options.longestPauseMs ?? 30_000,
        unreachableMs: options.unreachableMs ?? 600_000,
        onStatus: (text) => {
          if (text !== last) show(working(text));
          last = text;
        },
      }),
    );
  } catch (error) {
    const { code } = Object(turn.signal.reason) as { code?: unknown };
    // A turn that another process goes on with waits on.
    if (turn.signal.aborted && (code === 'CANCELED' || code === 'DEADLINE'))
      await cancelTask(client, task.taskId).catch(() => {});
    throw error;
  }
  const { status, inputRequests = {}, result, error } = ended;
  if (status === 'input_required') {
    const open = Object.entries(inputRequests).filter(([key]) => !task.answered?.includes(key));
    return { asks: { resultType: 'input_required', inputRequests: Object.fromEntries(open) } };
  }
  await remember(turn, step, undefined);
  if (status === 'completed') return { result: (result ?? { content: [] }) as ToolResult };
  const what =
    status === 'failed' ? `failed: ${error?.message ?? 'no reason given'}` : 'was cancelled by its server';
  throw new ToolError(name, `The tool "${name}" ${what}`);
}

function progressMetadata({ extensions }: Turn, done: number, total: number | undefined) {
  const isKnown = total !== undefined && done >= 0 && done <= total && total < Number.POSITIVE_INFINITY;
  return isKnown && extensions.includes(TASK_PROGRESS) ? progress(done, total) : undefined;
}

/** How often each turn called each tool. */
const calls = new WeakMap<Turn, Map<string, number>>();

function nextStep(turn: Turn, name: string): string {
  const counts = calls.get(turn) ?? new Map<string, number>();
  calls.set(turn, counts);
  const count = (counts.get(name) ?? 0) + 1;
  counts.set(name, count);
  return `mcp ${name} ${count}`;
}
