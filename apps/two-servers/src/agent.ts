import { setTimeout as sleep } from 'node:timers/promises';
import { type Agent, append, artifact, completed, data, inputRequired, working } from '@batonjs/server';

/** One number, and the worker that counted it. */
export interface Said {
  readonly number: number;
  readonly by: string;
}

const paceMs = 100;

/**
 * Asks how far, then counts. When another worker runs the turn again it goes on after the last number that was stored.
 */
export const counting = (worker: string): Agent =>
  async function* ({ values, task, signal }) {
    const to = Number(values.to);
    if (!Number.isSafeInteger(to)) return yield inputRequired('How far shall I count?');
    yield working();
    let number = task?.artifacts?.[0]?.parts.length ?? 0;
    while (number++ < to) {
      await sleep(paceMs, undefined, { signal });
      const said = data({ number, by: worker } satisfies Said);
      yield number === 1 ? artifact('numbers', said) : append('numbers', said);
    }
    yield completed();
  };
