import { A2AError, ClientError } from '@batonjs/client';
import { cancelOpenTask } from '@batonjs/client/answers';
import {
  type Asked,
  type FrontAgent,
  type FrontDoor,
  type FrontDoorOptions,
  type FrontReply,
  frontDoor,
} from '@batonjs/extensions/internals';
import { encodeSse, sseHeaders } from '@batonjs/server/adapter';
import { openRun, type Run, RunRefused, stepsOfRun } from './run.ts';
import { runEncoder } from './run-encoder.ts';
import { type AgUiEvent, type RunInput, readRunInput } from './run-input.ts';

/** Options of `agUiHandler`. */
export type AgUiHandlerOptions = FrontDoorOptions;

/**
 * Serves an agent to front ends that speak AG-UI 0.0.59 or 1.0, such as `HttpAgent` and CopilotKit. Mount it as an agent:
 * `POST /` runs it, `DELETE /{threadId}` cancels the open task of a thread. A thread is a context of the agent; a run
 * without a new message follows the task that is open, and a header `Last-Event-ID` continues after that event. Throws
 * `TypeError` for an option that it does not have.
 */
export const agUiHandler = (agent: FrontAgent, options: AgUiHandlerOptions = {}): FrontDoor =>
  frontDoor(agent, options, 'json', async (asked): Promise<FrontReply> => {
    const { method, path } = asked;
    const [threadId, ...more] = path;
    if (method === 'DELETE' && threadId !== undefined && more.length === 0)
      return { status: (await cancelOpenTask(asked.agent, threadId)) ? 202 : 204, headers: {} };
    if (threadId !== undefined) throw asked.notFound();
    if (method !== 'POST') throw new A2AError('METHOD_NOT_ALLOWED');
    const input = readRunInput(await asked.json());
    const opened = await openRun(asked.agent, input, {
      ...asked.follow,
      lastEventId: asked.headers['last-event-id'],
    }).catch((error: unknown) => {
      if (error instanceof RunRefused) return error;
      throw error;
    });
    return { status: 200, headers: { ...sseHeaders }, body: textsOf(opened, input, asked) };
  });

async function* textsOf(
  run: Run | RunRefused,
  input: RunInput,
  asked: Asked,
): AsyncGenerator<string, void, void> {
  if (run instanceof RunRefused) {
    const encoder = runEncoder({ input, messages: [], answerId: '' });
    yield text(encoder.start());
    for (const event of encoder.fail(run.code, run.message)) yield text(event);
    return;
  }
  const encoder = runEncoder({ input, messages: run.messages, answerId: run.answerId });
  yield text(encoder.start());
  if (run.isFollowed) yield text(encoder.snapshot());
  try {
    const steps = stepsOfRun(run);
    if (!steps) for (const event of encoder.encode({ type: 'end' })) yield text(event);
    else
      for await (const parts of steps) {
        const events = parts.flatMap((part) => [...encoder.encode(part)]);
        // Only the last one names the position: after an earlier one, the rest would be lost.
        for (const event of events.slice(0, -1)) yield text(event);
        for (const event of events.slice(-1)) yield text(event, run.position());
      }
  } catch (error) {
    // The client has left; the task goes on.
    if (asked.signal.aborted && !asked.isClosing()) return;
    const { code, message } = failureOf(error, asked);
    for (const event of encoder.fail(code, message)) yield text(event);
  }
}

const text = (event: AgUiEvent, id?: string): string => encodeSse({ data: JSON.stringify(event), id });

/** What a front end reads of an error: nothing of one inside. */
function failureOf(error: unknown, asked: Asked) {
  const isGone = asked.isClosing() || ClientError.is(error) || A2AError.is(error, 'UNAVAILABLE');
  if (isGone)
    return {
      code: 'UNAVAILABLE',
      message: 'The connection to the agent was lost. The task goes on: run again without a new message',
    };
  asked.onError(error);
  if (A2AError.is(error) && error.reason !== 'INTERNAL_ERROR')
    return { code: error.reason, message: error.message };
  return { code: 'INTERNAL', message: 'Internal error' };
}
