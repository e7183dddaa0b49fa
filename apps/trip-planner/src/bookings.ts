import type { ReferencedArtifact, Task, Turn } from '@batonjs/server';
import type { Kind } from './offers.ts';

/** A booking that another one builds on. */
export interface Booking {
  readonly place: string;
  readonly reference: { readonly taskId: string; readonly artifactId: string };
}

/** Finds the earlier booking that a new one builds on, or the question to ask if that is unclear. */
export async function findBooking(
  turn: Turn,
  kind: Kind | undefined,
): Promise<{ readonly booking?: Booking; readonly question?: string }> {
  if (!kind) return {};
  const { tasks, artifacts, missing } = await turn.references();
  if (missing.length > 0)
    return { question: `I do not know ${missing.join(', ').slice(0, 200)}. Which ${kind} is it for?` };
  const named = artifacts.length > 0 ? artifacts : tasks.flatMap(artifactsOf);
  const isNamed = tasks.length > 0;
  const around = isNamed ? named : (await turn.context.tasks()).flatMap(artifactsOf);
  const bookings = around.filter(({ artifact }) => artifact.name === kind);
  const [booking] = bookings.map(toBooking);
  if (booking && bookings.length === 1) return { booking };
  if (bookings.length > 1)
    return { question: `There are ${bookings.length} ${kind} bookings. Which one is it for? Refer to it.` };
  return {
    question: isNamed
      ? `No ${kind} is booked in what you refer to.`
      : `Which ${kind} is it for? Book one first.`,
  };
}

/** Only completed tasks have bookings. */
const artifactsOf = ({ id, status, artifacts = [] }: Task): ReferencedArtifact[] =>
  status.state === 'TASK_STATE_COMPLETED' ? artifacts.map((artifact) => ({ taskId: id, artifact })) : [];

function toBooking({ taskId, artifact: { artifactId, parts } }: ReferencedArtifact): Booking {
  const [details] = parts.flatMap((part) => ('data' in part ? [part.data] : []));
  const { place } = Object(details) as { place: string };
  return { place, reference: { taskId, artifactId } };
}
