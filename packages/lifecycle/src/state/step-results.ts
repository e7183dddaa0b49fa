/** The result of a completed step: JSON, `null` for a step without one. */
export interface StepResult {
  readonly result: unknown;
}

/**
 * Results of steps by name. They only grow: more of them share the map of those before, so that one more costs the same
 * however many there are.
 */
export interface StepResults {
  readonly size: number;
  /** In the order of their completion. Those from `size` on belong to others that share the map. */
  readonly byName: Map<string, StepResult & { readonly index: number }>;
}

/** The result of this name, if there is one. */
export function resultIn(results: StepResults | undefined, name: string): StepResult | undefined {
  if (!results) return undefined;
  const found = results.byName.get(name);
  return found && found.index < results.size ? found : undefined;
}

/** The results with one more. The first one of a name counts. */
export function addResult(results = noResults(), name: string, result: unknown): StepResults {
  if (resultIn(results, name)) return results;
  const { size } = results;
  // Where others grew from the same results already, these go on in a copy.
  const byName = results.byName.size === size ? results.byName : new Map(entriesOf(results));
  byName.set(name, { index: size, result });
  return { size: size + 1, byName };
}

/** The results as plain JSON. */
export const toRecord = (results = noResults()): Readonly<Record<string, unknown>> =>
  Object.fromEntries(entriesOf(results).map(([name, { result }]) => [name, result]));

/** The results of a record; undefined for one without any. */
export const toResults = (record: Readonly<Record<string, unknown>>): StepResults | undefined =>
  Object.entries(record).reduce<StepResults | undefined>(
    (results, [name, result]) => addResult(results, name, result),
    undefined,
  );

const noResults = (): StepResults => ({ size: 0, byName: new Map() });

const entriesOf = ({ size, byName }: StepResults) => [...byName].slice(0, size);
