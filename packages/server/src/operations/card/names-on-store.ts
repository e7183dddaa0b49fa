import { isSameJson } from '@batonjs/protocol/json';
import type { TaskStore } from '@batonjs/store';
import type { CardInput } from './card-options.ts';

interface Named {
  readonly card: unknown;
  servers: number;
}

const known = new WeakMap<TaskStore, Map<string, Named>>();

/**
 * Takes a name on a store for an agent of this process, until the returned function is called. Throws `TypeError` if an
 * agent with another card has the name on the same store object: each would answer the tasks of the other. Cards may
 * differ in their interfaces.
 */
export function takeName(store: TaskStore, name: string, card: CardInput): () => void {
  const names = known.get(store) ?? new Map<string, Named>();
  known.set(store, names);
  const named = names.get(name) ?? { card: comparable(card), servers: 0 };
  if (!isSameJson(named.card, comparable(card))) {
    throw new TypeError(
      `An agent with another card is named "${name}" on this store, and the two would share their tasks: give each a \`name\` of its own`,
    );
  }
  names.set(name, named);
  named.servers += 1;
  let isLeft = false;
  return () => {
    if (isLeft) return;
    isLeft = true;
    named.servers -= 1;
    if (named.servers === 0) names.delete(name);
  };
}

const comparable = ({ supportedInterfaces: _, extended: __, ...card }: CardInput): unknown =>
  JSON.parse(JSON.stringify(card));
