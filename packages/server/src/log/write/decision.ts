import { type Command, decide, evolve, type Fact, type State } from '@batonjs/lifecycle';

/** The facts that commands lead to, and the state after them. */
export interface Decision {
  readonly facts: readonly Fact[];
  readonly state: State | undefined;
}

/** Decides several commands in order, each on the state after the one before. Throws as `decide` does. */
export function decideAll(state: State | undefined, commands: readonly Command[], now: string): Decision {
  const facts: Fact[] = [];
  let next = state;
  for (const command of commands) {
    for (const fact of decide(next, command, now)) {
      facts.push(fact);
      next = evolve(next, fact);
    }
  }
  return { facts, state: next };
}
