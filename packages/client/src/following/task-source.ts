import type { SendMessageRequest, StreamResponse, Task } from '@batonjs/protocol';
import type { PositionedEvent, Session, StreamOptions } from '../connection/session.ts';
import { reconcile } from './reconcile.ts';

/** Reads events of a task, given its id or the message that is still to be sent. */
type TaskSource = (
  session: Session,
  id: string,
  request: SendMessageRequest | undefined,
  options: StreamOptions & { readonly signal: AbortSignal },
) => AsyncGenerator<PositionedEvent, void, void>;

/** The events of one streaming connection. Events of an existing task that the stream omits are read with `GetTask`. */
export const streamTask: TaskSource = (session, id, request, given) => {
  const options = { ...given, repeatable: false };
  const events = request
    ? session.stream('SendStreamingMessage', { ...request }, options)
    : session.stream('SubscribeToTask', { id }, options);
  const existing = request ? request.message.taskId : id;
  return existing ? wholeTask(session, existing, events, given) : events;
};

/** The events of a stream of an existing task. Those that it omits are read with `GetTask`. */
export const wholeTask = (
  session: Session,
  id: string,
  events: AsyncIterable<PositionedEvent>,
  { lastEventId, ...options }: StreamOptions = {},
): AsyncGenerator<PositionedEvent, void, void> => {
  const { signal } = options;
  const { clock } = session.settings;
  const readTask = () => session.call('GetTask', { id }, options) as Promise<Task>;
  return reconcile(events, { lastEventId, clock, signal, readTask });
};

/** A single read of the task in place of a stream, or the reply to the message that is still to be sent. */
export const pollTask: TaskSource = async function* (session, id, request, { lastEventId: _, ...given }) {
  const options = { ...given, repeatable: false };
  if (!request) {
    yield { event: { task: (await session.call('GetTask', { id }, options)) as Task } };
    return;
  }
  // Reading an existing task later cannot show whether it waits for an answer to this message or to an earlier one.
  const configuration = { ...request.configuration, returnImmediately: !request.message.taskId };
  const reply = await session.call('SendMessage', { ...request, configuration }, options);
  yield { event: reply as StreamResponse };
};
