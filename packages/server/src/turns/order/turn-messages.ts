import type { MessageReceived, State } from '@batonjs/lifecycle';
import { answererOf } from '@batonjs/lifecycle/internals';
import type { Message } from '@batonjs/protocol';

/**
 * The message that a turn answers: the answer by a link, if the first attempt started with one, since no message counted
 * that came after it; else the latest of those that it started with. If there was none, that of the turn before.
 */
export function startedWith(state: State): MessageReceived {
  const { taken, pending } = state;
  const isFirst = (received: MessageReceived) => !isTakenLater(state, received);
  const byLink = (received: MessageReceived) => answererOf(state, received) !== undefined;
  const latest =
    (state.agent && taken.findLast((received) => byLink(received) && isFirst(received))) ??
    taken.findLast(isFirst) ??
    pending.at(-1);
  if (!latest) throw new TypeError('A turn needs a message');
  return latest;
}

/** Those of the messages that the sender of this one sent: a client, or a person by a link. */
export function ofSender(state: State, sent: Message, messages: readonly Message[]): readonly Message[] {
  if (!state.agent) return messages;
  const all = [...state.taken, ...state.pending];
  const senderOf = ({ messageId }: Message): string | undefined => {
    const received = all.findLast(({ message }) => message.messageId === messageId);
    return received && answererOf(state, received);
  };
  const sender = senderOf(sent);
  return messages.filter((message) => senderOf(message) === sender);
}

/** Whether an attempt of the open turn took the message while it ran. */
const isTakenLater = ({ openTurn }: State, { message }: MessageReceived): boolean =>
  openTurn?.takenLater?.includes(message.messageId) === true;

/** Those that attempts of the open turn took while they ran. */
export const takenLater = (state: State): MessageReceived[] =>
  state.taken.filter((received) => isTakenLater(state, received));

/** Whether no message started the turn. */
export const isWithoutMessage = (turn: NonNullable<State['openTurn']>): boolean =>
  turn.messageIds.length === (turn.takenLater?.length ?? 0);
