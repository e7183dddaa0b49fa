import {
  type Callee,
  type CallingTurn,
  type NestedTasks,
  type NestedTasksOptions,
  nestedTasks,
} from '@batonjs/nested-tasks';
import {
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
import { card } from './card.ts';
import { isOffered, offers } from './offers.ts';
import { type Reserve, reserveAtOnce } from './reserve.ts';
import { bookTrip } from './trip.ts';
import { isWholeTrip, placeOf, type TripRequest, tripRequestOf } from './trip-request.ts';

/** Options of the trip planner. */
export interface TripPlannerOptions {
  /** Makes the reservation. */
  readonly reserve?: Reserve;
  /** Where the planner itself is reached: the bookings of a whole trip are tasks of it. Without it, it books single ones. */
  readonly self?: Callee;
  /** Connects to the planner itself. */
  readonly connect?: NestedTasksOptions['connect'];
}

/** Answers questions about a trip with messages, books in tasks, and a whole trip in tasks of a task. */
export function tripPlanner({
  reserve = reserveAtOnce,
  self,
  connect,
}: TripPlannerOptions = {}): NestedTasks {
  return nestedTasks({
    card,
    ...(self && { agents: { planner: self } }),
    connect,
    agent(turn: CallingTurn) {
      if (self && isWholeTrip(turn.messages)) return bookTrip(turn);
      const wanted = tripRequestOf(turn.messages);
      return wanted ? book(turn, wanted, reserve) : reply(offers(turn.text));
    },
  });
}

async function* book(turn: Turn, wanted: TripRequest, reserve: Reserve): Updates {
  const { booking: earlier, question } = await findBooking(turn, wanted.after);
  if (question) return yield inputRequired(question);
  const place = earlier?.place ?? (await placeOf(turn));
  if (!place) return yield inputRequired(`Where to? ${offers('')}`);
  if (!isOffered(wanted.kind, place))
    return yield rejected(`There is no ${wanted.kind} to be had in ${place}.`);

  const what = wanted.kind === 'flight' ? `flight to ${place}` : `${wanted.kind} in ${place}`;
  yield working(`Booking the ${what}`);
  const request = { kind: wanted.kind, place, key: turn.taskId };
  const code = await turn.step('reserve', () => reserve(request, turn.signal));
  const booking = { kind: wanted.kind, place, code, ...(earlier && { basedOn: earlier.reference }) };
  yield artifact(wanted.kind, text(`Your ${what} is booked: ${code}`), data(booking));
  yield completed();
}
