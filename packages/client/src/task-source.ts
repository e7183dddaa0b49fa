import type { SendMessageRequest, StreamResponse, Task } from '@batonjs/protocol';
import type { PlacedEvent, Session, StreamOptions } from './session.ts';

/** Where the events of a task come from: its id, or the message that is still to be sent. */
type Source = (
  session: Session,
  id: string,
  request: SendMessageRequest | undefined,
  options: StreamOptions,
) => AsyncGenerator<PlacedEvent, void, void>;

/** One connection, as long as it lasts. */
export const listenToTask: Source = (session, id, request, options) =>
  request
    ? session.stream('SendStreamingMessage', { ...request }, { ...options, repeatable: false })
    : session.stream('SubscribeToTask', { id }, { ...options, repeatable: false });

/** One look at the task, in place of a connection. */
export const lookAtTask: Source = async function* (session, id, request, given) {
  const options = { ...given, repeatable: false };
  if (!request) {
    yield { event: { task: (await session.call('GetTask', { id }, options)) as Task } };
    return;
  }
  // Only of a new task can be told, by looking, when it waits for an answer to this message.
  const configuration = { ...request.configuration, returnImmediately: !request.message.taskId };
  const reply = await session.call('SendMessage', { ...request, configuration }, options);
  yield { event: reply as StreamResponse };
};

/** Whether a position `<log>.<number>` is not after another one of the same log; false where the two cannot be compared. */
export function isBehind(id: string | undefined, other: string | undefined): boolean {
  if (!id || !other) return false;
  const dot = id.lastIndexOf('.') + 1;
  const last = other.lastIndexOf('.') + 1;
  return (
    dot > 0 && id.slice(0, dot) === other.slice(0, last) && Number(id.slice(dot)) <= Number(other.slice(last))
  );
}
