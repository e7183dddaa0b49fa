import { stepOf } from '@batonjs/lifecycle';
import {
  type JsonOf,
  type StepFunction,
  type StepOptions,
  secretStep,
  type Turn,
} from '@batonjs/server/turns';
import type { AttemptReplay } from './attempt-replay.ts';

/** The steps of an attempt, answered from its log: no function of a step is called. */
export function replaySteps(replay: AttemptReplay): Turn['step'] {
  const used = new Set<string>();
  return async <T>(
    name: string,
    first: StepOptions | StepFunction<T>,
    second?: StepFunction<T>,
  ): Promise<JsonOf<T>> => {
    const options = typeof first === 'function' ? undefined : first;
    if (typeof (options ? second : first) !== 'function')
      throw new TypeError(`The step "${name}" needs a function`);
    if (used.has(name)) throw new TypeError(`The step "${name}" was used in this turn already`);
    used.add(name);
    return (await resultOf(replay, name, options?.keep)) as JsonOf<T>;
  };
}

async function resultOf(replay: AttemptReplay, name: string, keep: 'task' | undefined): Promise<unknown> {
  const { before } = replay.recorded;
  const known = stepOf(before, name);
  if (known) return structuredClone(known.result);
  for (;;) {
    const failed = replay.find((fact) => fact.type === 'step-failed' && fact.name === name);
    const completed = replay.find((fact) => fact.type === 'step-completed' && fact.name === name);
    const fact = replay.factAt(failed === -1 ? completed : failed);
    if (fact?.type === 'step-failed') {
      await replay.whenNext(failed);
      if (fact.retryAt === undefined) throw new Error(fact.message);
      continue;
    }
    if (fact?.type === 'step-completed') {
      if (fact.keep !== keep) return changed(replay, name, keep, completed);
      await replay.whenNext(completed);
      return structuredClone(fact.result ?? null);
    }
    const failures = before.openTurn?.stepFailures;
    const last = failures && Object.hasOwn(failures, name) ? failures[name] : undefined;
    if (last && last.retryAt === undefined)
      throw Object.assign(new Error(`The step "${name}" failed in ${last.attempt} tries: ${last.message}`), {
        code: 'STEP_FAILED',
      });
    return unknown(replay, name);
  }
}

function changed(
  replay: AttemptReplay,
  name: string,
  keep: 'task' | undefined,
  index: number,
): Promise<never> {
  const [now, then] = keep ? ['the whole task', 'its turn'] : ['its turn', 'the whole task'];
  replay.differ(
    'changed-step',
    `The step "${name}" is kept for ${now}, and the log has it for ${then}`,
    index,
  );
  return never();
}

/**
 * A step that the log lacks. In an attempt that was cut it ran then, or would have run. Otherwise the replay goes on with
 * the result of the step that the log has there, to find out whether it has another name now.
 */
function unknown(replay: AttemptReplay, name: string): Promise<unknown> {
  if (replay.unknown) return never();
  const index = replay.find(({ type }) => type === 'step-completed');
  const fact = replay.factAt(index);
  const isAtEnd = replay.first === -1;
  if (!replay.isWhole) {
    if (isAtEnd) replay.finish();
    return never();
  }
  if (fact?.type !== 'step-completed') {
    replay.differ('new-step', `The agent runs the step "${name}", which the log lacks`);
    return never();
  }
  replay.unknown = { name, standsFor: fact.name };
  return Promise.resolve(structuredClone(fact.result ?? null));
}

/** What the log says of an unknown step, once the agent has run on with it. */
export function explainUnknown(replay: AttemptReplay): void {
  const { name, standsFor } = replay.unknown ?? {};
  if (name === undefined) return;
  const index = replay.find((fact) => fact.type === 'step-completed' && fact.name === standsFor);
  replay.isOver = false;
  replay.differences.length = 0;
  if (index === -1) replay.differ('new-step', `The agent runs the step "${name}", which the log lacks`);
  else
    replay.differ(
      'renamed-step',
      `The agent runs the step "${name}", and the log has the step "${standsFor}" in its place`,
      index,
    );
}

/** What a step is called in a report. */
export const stepName = (name: string): string =>
  name === secretStep ? 'idempotency keys' : `the step "${name}"`;

const never = (): Promise<never> => new Promise(() => {});
