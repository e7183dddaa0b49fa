import type { MessageReceived, OpenTurn, State } from '@batonjs/lifecycle';

/** The latest of the messages that the first attempt started with. If there was none, that of the turn before. */
export function startedWith(state: State): MessageReceived {
  const { taken, untaken } = state;
  const latest = taken.findLast((received) => !isTakenLater(state, received)) ?? untaken.at(-1);
  if (!latest) throw new TypeError('A turn needs a message');
  return latest;
}

/** Whether an attempt of the open turn took the message while it ran. */
const isTakenLater = ({ openTurn }: State, { message }: MessageReceived): boolean =>
  openTurn?.takenLater?.includes(message.messageId) === true;

/** Those that attempts of the open turn took while they ran. */
export const takenLater = (state: State): MessageReceived[] =>
  state.taken.filter((received) => isTakenLater(state, received));

/** Whether no message started the turn. */
export const isWithoutMessage = (turn: OpenTurn): boolean =>
  turn.messageIds.length === (turn.takenLater?.length ?? 0);
