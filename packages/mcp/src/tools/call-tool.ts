import { progress, TASK_PROGRESS } from '@batonjs/extensions';
import { type TaskUpdate, type Turn, working } from '@batonjs/server';
import { type McpClient, mustBeClient2, type ToolResult } from './mcp-client.ts';
import { ask, openRequest, type PendingCall, pendingIn, pendingOf } from './pending-call.ts';
import { ToolError, throwIfError } from './tool-error.ts';

/** Options of `callTool`. */
export interface CallToolOptions {
  /** The name of the step, used once in a turn. Default: the tool's name and how often the turn called it. */
  readonly step?: string;
  /** Milliseconds without progress after which the call fails. Default 300,000. */
  readonly timeoutMs?: number;
}

type Arguments = Readonly<Record<string, unknown>>;

/**
 * Calls a tool of an MCP server from an agent: `const result = yield* callTool(turn, client, 'search', { query })`.
 *
 * The call is a step of the turn: a later attempt of the turn gets its result instead of calling again. Progress of the
 * tool becomes updates of the task, and a task that is canceled cancels the call. A question of the server (protocol
 * 2026-07-28) ends the turn; in the turn of the answer, the same call of the agent goes on with it. Throws a
 * `ToolError` if the tool failed, and a `TypeError` for a client of the SDK 1.
 */
export async function* callTool(
  turn: Turn,
  client: McpClient,
  name: string,
  args: Arguments = {},
  options: CallToolOptions = {},
): AsyncGenerator<TaskUpdate, ToolResult, void> {
  mustBeClient2(client);
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
    const result = yield* request(turn, client, { name, args, step, round, pending, options });
    pending = pendingIn(name, { step, args, round }, result);
    if (!pending) return throwIfError(name, result);
    if (openRequest(pending) !== undefined) continue;
    // A server that asks nothing wants to be called again later.
    if (++postponed > mostPostponed)
      throw new ToolError(name, `The tool "${name}" put the call off ${postponed} times without a question`);
    await new Promise((resolve) => setTimeout(resolve, postponedMs));
    turn.signal.throwIfAborted();
  }
}

/** How often a server may put a call off in a turn, and milliseconds until the next attempt; as in the SDK's client. */
const mostPostponed = 10;
const postponedMs = 250;

interface Request {
  readonly name: string;
  readonly args: Arguments;
  readonly step: string;
  readonly round: number;
  readonly pending: PendingCall | undefined;
  readonly options: CallToolOptions;
}

/** One request, as a step. */
async function* request(
  turn: Turn,
  client: McpClient,
  { name, args, step, round, pending, options }: Request,
): AsyncGenerator<TaskUpdate, ToolResult, void> {
  const updates = new LatestUpdate();
  const answered = pending && {
    inputResponses: pending.responses,
    ...(pending.requestState !== undefined && { requestState: pending.requestState }),
  };
  const stepName = round === 0 ? step : `${step} after answer ${round}`;
  const calling = turn.step(stepName, () =>
    client.callTool(
      { name, arguments: { ...args }, ...answered },
      {
        signal: turn.signal,
        timeout: options.timeoutMs ?? 300_000,
        resetTimeoutOnProgress: true,
        allowInputRequired: true,
        onprogress: ({ progress: done, total, message }) =>
          updates.set(working(message ?? `Calling ${name}`, progressMetadata(turn, done, total))),
      },
    ),
  );
  calling.catch(() => {}).finally(() => updates.end());
  for (let update = await updates.next(); update; update = await updates.next()) yield update;
  return (await calling) as ToolResult;
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

/** The latest update that was not taken: a tool that reports faster than the store commits loses those between. */
class LatestUpdate {
  #update: TaskUpdate | undefined;
  #isOver = false;
  #wake = () => {};

  set(update: TaskUpdate): void {
    this.#update = update;
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** Resolves to the next update, or to undefined at the end. */
  async next(): Promise<TaskUpdate | undefined> {
    if (!this.#update && !this.#isOver)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    const update = this.#update;
    this.#update = undefined;
    return update;
  }
}
