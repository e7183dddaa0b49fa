import type { ListTasksRequest } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { GENERATION, LABELS } from '@batonjs/protocol/headers';

/** The members of ListTasks that A2A has. */
type Plain =
  | 'tenant'
  | 'contextId'
  | 'status'
  | 'pageSize'
  | 'pageToken'
  | 'historyLength'
  | 'statusTimestampAfter'
  | 'includeArtifacts'
  | 'timelineLength';

/** The extension that each other filter needs. */
const filters: Readonly<Record<Exclude<keyof ListTasksRequest, Plain>, string>> = {
  labels: LABELS,
  skill: LABELS,
  code: LABELS,
};
const filterNames = Object.keys(filters) as (keyof typeof filters)[];

type Named = { readonly [Name in keyof typeof filters]?: ListTasksRequest[Name] } & {
  readonly currentGeneration?: unknown;
  readonly timelineLength?: unknown;
  readonly configuration?: { readonly ifGenerationMatch?: unknown; readonly timelineLength?: unknown };
};

/**
 * The extensions that a call needs, if its params name a generation, a timeline, or words to list by. Throws `UNSUPPORTED_OPERATION`
 * if the agent does not offer one: an agent that ignores a condition loses the update that the condition guards, and one
 * that ignores a filter lists other tasks.
 */
export function neededExtensions(params: Named, agent: { offers(extension: string): boolean }): string[] {
  const needed: string[] = [];
  const { currentGeneration, timelineLength, configuration = {} } = params;
  const counted = currentGeneration ?? timelineLength ?? configuration.ifGenerationMatch;
  if ((counted ?? configuration.timelineLength) !== undefined) needed.push(GENERATION);
  for (const name of filterNames) if (params[name]?.length) needed.push(filters[name]);
  if (needed.every((extension) => agent.offers(extension))) return needed;
  throw new A2AError('UNSUPPORTED_OPERATION');
}
