import { A2AError } from '@batonjs/protocol/errors';
import { GENERATION, LABELS } from '@batonjs/protocol/headers';

interface Named {
  readonly currentGeneration?: unknown;
  readonly configuration?: { readonly ifGenerationMatch?: unknown };
  readonly labels?: readonly string[];
  readonly skill?: string;
  readonly code?: string;
}

/**
 * The extensions that a call needs, if its params name a generation, or words to list by. Throws `UNSUPPORTED_OPERATION`
 * if the agent does not offer one: an agent that ignores a condition loses the update that the condition guards, and one
 * that ignores a filter lists other tasks.
 */
export function neededExtensions(
  { currentGeneration, configuration, labels, skill, code }: Named,
  agent: { offers(extension: string): boolean },
): string[] {
  const needed: string[] = [];
  if ((currentGeneration ?? configuration?.ifGenerationMatch) !== undefined) needed.push(GENERATION);
  if (labels?.length || skill || code) needed.push(LABELS);
  if (needed.every((extension) => agent.offers(extension))) return needed;
  throw new A2AError('UNSUPPORTED_OPERATION');
}
