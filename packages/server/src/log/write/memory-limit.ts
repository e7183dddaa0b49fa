import type { Fact, State } from '@batonjs/lifecycle';
import { weigh } from '@batonjs/lifecycle/internals';
import { A2AError } from '@batonjs/protocol/errors';
import type { Limits } from '../../base/limits.ts';

/**
 * Throws `RESOURCE_EXHAUSTED` if facts make what an agent keeps larger than `limits.memoryBytes`. Its cause, a
 * `RangeError`, names keys and sizes: clients see the first, and agents are told the second.
 */
export function checkMemory(
  facts: readonly Fact[],
  { agent }: State,
  { memoryBytes }: Pick<Limits, 'memoryBytes'>,
): void {
  if (!agent || agent.memoryBytes <= memoryBytes) return;
  const added = facts.flatMap((fact) =>
    fact.type === 'memory-changed'
      ? Object.entries(fact.changes).map(([key, value]) => sized(`The memory "${key}"`, key, value))
      : fact.type === 'step-completed' && fact.keep
        ? [sized(`The result of the step "${fact.name}"`, fact.name, fact.result)]
        : [],
  );
  // To forget something is always allowed.
  if (added.length === 0) return;
  const all = `all that the task keeps would have ${agent.memoryBytes} of ${memoryBytes} (\`limits.memoryBytes\`)`;
  const cause = new RangeError(`${added.join(', ')}; ${all}`);
  throw new A2AError('RESOURCE_EXHAUSTED', 'The task keeps more than this server allows', { cause });
}

const sized = (what: string, key: string, value: unknown): string =>
  `${what} has ${weigh({ [key]: value })} bytes`;

/** The error that an agent is told: it names keys and sizes. Any other error is itself. */
export const memoryErrorOf = (error: unknown): unknown =>
  A2AError.is(error, 'RESOURCE_EXHAUSTED') && error.cause instanceof RangeError ? error.cause : error;

/** Rejects with the error that agents are told. */
export async function storing(write: () => unknown): Promise<void> {
  try {
    await write();
  } catch (error) {
    throw memoryErrorOf(error);
  }
}
