import type { AgentClient, AgentEvent, AgentReply, TaskStream } from '@batonjs/client';
import { isInterrupted } from '@batonjs/client';
import type { Task } from '@batonjs/protocol';
import { SdkError, SdkErrorCode, type ServerContext } from '@modelcontextprotocol/server';
import type { OnError } from '../translation/results.ts';

/** One request of a client of MCP, for the agent. */
export interface Call {
  readonly agent: AgentClient;
  readonly context: ServerContext;
  /** URIs of the extensions to activate: those that the agent offers. */
  readonly extensions: readonly string[];
  /** Milliseconds after which a call resolves to its running task; 0 waits until it ends. */
  readonly waitMs: number;
  /** Whether a client that cancels its request cancels the task. */
  readonly cancelsTask: boolean;
  /** Whether the model of the host may answer a question that asks for an approval. Default false. */
  readonly modelApproves?: boolean;
  readonly onError: OnError;
  readonly notify: (event: AgentEvent) => Promise<void>;
}

/**
 * Follows a task until it ends or waits for an answer or an authorization, or until `waitMs` are over. A client that
 * cancels its request cancels the task where the call says so.
 *
 * `isReply` says that the stream began with a message, so that a question it begins with may be the old one.
 */
export async function follow(
  { context, waitMs, cancelsTask, agent, notify, onError }: Call,
  start: (signal: AbortSignal) => TaskStream,
  isReply: boolean,
): Promise<AgentReply> {
  const signal = signalOf(context);
  signal.throwIfAborted();
  const stop = new AbortController();
  const stream = start(stop.signal);
  let isLate = false;
  // Without a task, the first event is awaited: it says what to cancel.
  const leave = () => stream.task && stop.abort();
  signal.addEventListener('abort', leave);
  const timer =
    waitMs > 0
      ? setTimeout(() => {
          isLate = true;
          leave();
        }, waitMs)
      : undefined;
  try {
    for await (const event of stream) {
      if (signal.aborted || isLate) break;
      await notify(event);
      if (isReply ? needsAuthorization(event) : stream.task && isInterrupted(stream.task)) break;
    }
  } catch (error) {
    if (!signal.aborted && !isLate) throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
  }
  await cancelAbandoned({ context, cancelsTask, agent, onError }, stream.task);
  return stream.task ? { task: stream.task } : await stream.result();
}

/**
 * Rejects if the client canceled its request or left, and cancels the task if the client wanted that: no client knows of it
 * then.
 */
export async function cancelAbandoned(
  { context, cancelsTask, agent, onError }: Pick<Call, 'context' | 'cancelsTask' | 'agent' | 'onError'>,
  task: Task | undefined,
): Promise<void> {
  const signal = signalOf(context);
  if (!signal.aborted) return;
  if (cancelsTask && task && isCanceled(context)) await agent.task(task).cancel().catch(onError);
  throw signal.reason;
}

const needsAuthorization = ({ statusUpdate }: AgentEvent): boolean =>
  statusUpdate?.status.state === 'TASK_STATE_AUTH_REQUIRED';

/** Aborts when the client cancels its request, or has left and cannot get the response any more. */
export const signalOf = ({ mcpReq, http }: ServerContext): AbortSignal =>
  http?.req ? AbortSignal.any([mcpReq.signal, http.req.signal]) : mcpReq.signal;

/**
 * Whether the client canceled the request. Otherwise its connection or this server closed, and the task goes on. Over
 * HTTP without sessions, a client cancels by closing the connection. Spec: MCP 2026-07-28, Cancellation.
 */
function isCanceled({ http, mcpReq }: ServerContext): boolean {
  if (mcpReq.envelope !== undefined && http?.req?.signal.aborted) return true;
  const { aborted, reason } = mcpReq.signal;
  return aborted && !(reason instanceof SdkError && reason.code === SdkErrorCode.ConnectionClosed);
}
