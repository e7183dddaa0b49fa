import {
  type Agent,
  artifact,
  completed,
  data,
  inputRequired,
  rejected,
  reply,
  type Turn,
  text,
  type Updates,
  working,
} from '@batonjs/server';
import { findBooking } from './bookings.ts';
import { isOffered, offers } from './offers.ts';
import { type Reserve, reserveAtOnce } from './reserve.ts';
import { placeOf, type Wish, wishOf } from './wish.ts';

/** Answers questions about a trip with messages, and books in tasks. `reserve` makes the reservation. */
export const tripPlanner =
  (reserve: Reserve = reserveAtOnce): Agent =>
  (turn) => {
    const wish = wishOf(turn.messages);
    return wish ? book(turn, wish, reserve) : reply(offers(turn.text));
  };

async function* book(turn: Turn, wish: Wish, reserve: Reserve): Updates {
  const { booking: earlier, question } = await findBooking(turn, wish.after);
  if (question) return yield inputRequired(question);
  const place = earlier?.place ?? (await placeOf(turn));
  if (!place) return yield inputRequired(`Where to? ${offers('')}`);
  if (!isOffered(wish.kind, place)) return yield rejected(`There is no ${wish.kind} to be had in ${place}.`);

  const what = wish.kind === 'flight' ? `flight to ${place}` : `${wish.kind} in ${place}`;
  yield working(`Booking the ${what}`);
  const request = { kind: wish.kind, place, key: turn.taskId };
  const code = await turn.step('reserve', () => reserve(request, turn.signal));
  const booking = { kind: wish.kind, place, code, ...(earlier && { basedOn: earlier.reference }) };
  yield artifact(wish.kind, text(`Your ${what} is booked: ${code}`), data(booking));
  yield completed();
}
