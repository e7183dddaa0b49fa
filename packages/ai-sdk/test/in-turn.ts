import { type Agent, completed, type Turn } from '@batonjs/server';
import { runTurn } from '@batonjs/testing';

/** Runs this in a turn, and gives what it gave with the steps of the turn. */
export async function inTurn<T>(
  perform: (turn: Turn) => Promise<T>,
  options: Parameters<typeof runTurn>[2] = {},
) {
  let given: T | undefined;
  const agent: Agent = async function* (turn) {
    given = await perform(turn);
    yield completed();
  };
  const { steps } = await runTurn(agent, 'go', options);
  return { given: given as T, steps };
}
