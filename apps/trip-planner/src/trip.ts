import type { CallingTurn } from '@batonjs/nested-tasks';
import { completed, failed, inputRequired, type Task, type Updates } from '@batonjs/server';
import { comesAfter, type Kind, offeredIn, offers } from './offers.ts';
import { placeOf } from './trip-request.ts';

/**
 * Books everything that a place offers. Each booking is a child task at the planner itself, and begins when the booking that
 * it builds on is made. If one fails, the others that still run are canceled with the trip.
 */
export async function* bookTrip(turn: CallingTurn): Updates {
  const place = await placeOf(turn);
  if (!place) return yield inputRequired(`Where to? ${offers('')}`);
  const booked = new Map<Kind, Promise<Task>>();
  const book = (kind: Kind): Promise<Task> => {
    const booking = booked.get(kind) ?? bookOne(kind);
    booked.set(kind, booking);
    return booking;
  };
  const bookOne = async (kind: Kind): Promise<Task> => {
    const after = comesAfter[kind];
    const references = after ? [(await book(after)).id] : [];
    const { contextId } = turn;
    const options = { name: kind, contextId, references };
    const { task } = await turn.call('planner', `Book a ${kind} in ${place}`, options);
    if (task?.status.state !== 'TASK_STATE_COMPLETED') throw new NotBooked(kind);
    return task;
  };
  try {
    const bookings = await Promise.all(offeredIn(place).map(book));
    for (const { artifacts = [] } of bookings) for (const artifact of artifacts) yield { artifact };
  } catch (error) {
    if (!(error instanceof NotBooked)) throw error;
    return yield failed({
      code: 'NOT_BOOKED',
      message: `There is no ${error.kind} for the trip to ${place}`,
    });
  }
  yield completed(`Your trip to ${place} is booked`);
}

class NotBooked extends Error {
  readonly kind: Kind;

  constructor(kind: Kind) {
    super(`No ${kind}`);
    this.kind = kind;
  }
}
