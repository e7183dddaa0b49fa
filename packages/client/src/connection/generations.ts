import { A2AError } from '@batonjs/protocol/errors';
import { GENERATION } from '@batonjs/protocol/headers';

interface Named {
  readonly currentGeneration?: unknown;
  readonly configuration?: { readonly ifGenerationMatch?: unknown };
}

/**
 * The extension that a call needs, if its params name a generation. Throws `UNSUPPORTED_OPERATION` if the agent does not
 * offer it then: an agent that ignores a condition loses the update that the condition guards.
 */
export function generationExtension(
  { currentGeneration, configuration }: Named,
  agent: { offers(extension: string): boolean },
): string[] {
  if ((currentGeneration ?? configuration?.ifGenerationMatch) === undefined) return [];
  if (agent.offers(GENERATION)) return [GENERATION];
  throw new A2AError('UNSUPPORTED_OPERATION');
}
