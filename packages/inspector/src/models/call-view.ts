import type { Fact, FactOf } from '@batonjs/lifecycle';
import type { Entry, TimelineUpdate } from '../api/timeline.ts';
import { HIDDEN } from '../wire/secrets.ts';
import { type PriceTable, readCall, readMessages } from './read-call.ts';

/** How calls of models are shown to a viewer. */
export interface CallViewOptions {
  readonly prices?: PriceTable | undefined;
  /** Whether the viewer may read what models are asked and what they say. */
  readonly showsMessages: boolean;
}

/** What the memory of a task has of the conversation with its model, while it waits for an answer. */
const keptConversation = 'https://batonjs.dev/ai-sdk/v1 ';

/** The updates of a timeline with what steps called. Without leave, they have no words of models. */
export async function* withCalls(
  updates: AsyncIterable<TimelineUpdate>,
  options: CallViewOptions,
): AsyncGenerator<TimelineUpdate, void, void> {
  for await (const update of updates)
    yield update.type === 'entries'
      ? { ...update, entries: update.entries.map((entry) => viewEntry(entry, options)) }
      : update;
}

function viewEntry(entry: Entry, options: CallViewOptions): Entry {
  const { fact } = entry;
  if (fact?.type === 'step-completed') return viewStep(entry, fact, options);
  return fact?.type === 'memory-changed' && !options.showsMessages
    ? { ...entry, fact: withoutConversation(fact) }
    : entry;
}

function viewStep(
  entry: Entry,
  fact: FactOf<'step-completed'>,
  { prices, showsMessages }: CallViewOptions,
): Entry {
  const call = readCall(fact, prices);
  if (!isOfModel(fact)) return call ? { ...entry, call } : entry;
  if (!showsMessages) return { ...entry, fact: { ...fact, result: HIDDEN }, ...(call && { call }) };
  return call?.kind === 'model' ? { ...entry, call: { ...call, messages: readMessages(fact) } } : entry;
}

/** A call that cannot be read has words of a model, too. */
const isOfModel = ({ result }: FactOf<'step-completed'>): boolean =>
  Object.hasOwn(Object(result), 'modelCall');

function withoutConversation(fact: FactOf<'memory-changed'>): Fact {
  const changes = Object.entries(fact.changes).map(([name, value]) => [
    name,
    name.startsWith(keptConversation) ? HIDDEN : value,
  ]);
  return { ...fact, changes: Object.fromEntries(changes) };
}
