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
import { type Airline, Confirmation } from './airline.ts';
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
  /** Orders flights. Needs a server with `callbacks`. Without it, `reserve` books them as all else. */
  readonly airline?: Airline;
  /** Where the planner itself is reached: the bookings of a whole trip are tasks of it. Without it, it books single ones. */
  readonly self?: Callee;
  /** Connects to the planner itself. */
  readonly connect?: NestedTasksOptions['connect'];
}

/** Answers questions about a trip with messages, books in tasks, and a whole trip in tasks of a task. */
export function tripPlanner({
  reserve = reserveAtOnce,
  airline,
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
      return wanted ? book(turn, wanted, { reserve, airline }) : reply(offers(turn.text));
    },
  });
}

/** For how long an airline may take to confirm, in milliseconds, before it is asked again. */
const confirmMs = 5_000;

/** Whom the planner books with. */
interface Companies {
  readonly reserve: Reserve;
  readonly airline: Airline | undefined;
}

async function* book(turn: Turn, wanted: TripRequest, { reserve, airline }: Companies): Updates {
  const { booking: earlier, question } = await findBooking(turn, wanted.after);
  if (question) return yield inputRequired(question);
  const place = earlier?.place ?? (await placeOf(turn));
  if (!place) return yield inputRequired(`Where to? ${offers('')}`);
  if (!isOffered(wanted.kind, place))
    return yield rejected(`There is no ${wanted.kind} to be had in ${place}.`);

  const what = wanted.kind === 'flight' ? `flight to ${place}` : `${wanted.kind} in ${place}`;
  yield working(`Booking the ${what}`);
  const request = { kind: wanted.kind, place, key: turn.taskId };
  const isOrdered = airline && wanted.kind === 'flight';
  const code = isOrdered
    ? await order(turn, place, airline)
    : await turn.step('reserve', () => reserve(request, turn.signal));
  // The airline's confirmation starts the next turn.
  if (code === undefined) return;
  const booking = { kind: wanted.kind, place, code, ...(earlier && { basedOn: earlier.reference }) };
  yield artifact(wanted.kind, text(`Your ${what} is booked: ${code}`), data(booking));
  yield completed();
}

/** The code of a flight that the airline has confirmed. Undefined if it was ordered just now, or again. */
async function order(turn: Turn, place: string, airline: Airline): Promise<string | undefined> {
  const { confirmation } = turn.callbacks;
  if (confirmation) return (confirmation.value as { readonly code: string }).code;
  const { url } = await turn.callback({
    name: 'confirmation',
    expiresMs: confirmMs,
    schema: Confirmation,
  });
  // Not the key of a turn: the next one orders the same flight if no confirmation came.
  await turn.step('order', () => airline({ place, key: turn.taskId, confirmTo: url }));
  return undefined;
}
