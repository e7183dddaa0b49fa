import type { SendMessageRequest, StreamResponse, Task } from '@batonjs/protocol';
import type { PlacedEvent, Session, StreamOptions } from '../connection/session.ts';
import { reconcile } from './reconcile.ts';

/** Where the events of a task come from: its id, or the message that is still to be sent. */
type Source = (
  session: Session,
  id: string,
  request: SendMessageRequest | undefined,
  options: StreamOptions & { readonly signal: AbortSignal },
) => AsyncGenerator<PlacedEvent, void, void>;

/** One connection, as long as it lasts. What it leaves out of a task that was there before is read. */
export const listenToTask: Source = (session, id, request, given) => {
  const options = { ...given, repeatable: false };
  const events = request
    ? session.stream('SendStreamingMessage', { ...request }, options)
    : session.stream('SubscribeToTask', { id }, options);
  const known = request ? request.message.taskId : id;
  if (!known) return events;
  const { lastEventId, ...lookOptions } = given;
  const { signal } = given;
  const { clock } = session.settings;
  const look = () => session.call('GetTask', { id: known }, lookOptions) as Promise<Task>;
  return reconcile(events, { lastEventId, clock, signal, look });
};

/** One look at the task, in place of a connection. */
export const lookAtTask: Source = async function* (session, id, request, { lastEventId: _, ...given }) {
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
export const isBehind = (id: string | undefined, other: string | undefined): boolean =>
  isSameLog(id, other) && numberOf(id) <= numberOf(other);

/** Whether two positions `<log>.<number>` are of the same log. */
export function isSameLog(id: string | undefined, other: string | undefined): id is string {
  const dot = id?.lastIndexOf('.') ?? -1;
  return dot > -1 && id!.slice(0, dot) === other?.slice(0, other.lastIndexOf('.'));
}

/** Between the last dot and `~`, after which a server may add what it recognises the position by. */
const numberOf = (id: string | undefined): number =>
  Number(id?.slice(id.lastIndexOf('.') + 1).split('~', 1)[0]);
