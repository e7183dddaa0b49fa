import type { StoredFact } from '@batonjs/store';
import fc from 'fast-check';
import { type Scenario, scenarios } from './scenario.ts';
import { type Simulated, type SimulateOptions, simulate } from './simulate.ts';

export interface CheckOptions extends SimulateOptions {
  /** How many smaller scenarios are tried when one fails. Default 500. */
  readonly attempts?: number;
}

/** The scenario of a seed. */
export function scenarioOf(seed: number): Scenario {
  // As a property draws it, which is not as `sample` would draw it of the arbitrary itself.
  const property = fc.asyncProperty(scenarios, async () => {});
  const [drawn] = fc.sample(property, { seed, numRuns: 1 }) as [scenario: Scenario][];
  return drawn![0];
}

/** What a seed shows: nothing if all is well, otherwise the smallest scenario that still fails and its history. */
export async function checkSeed(seed: number, options: CheckOptions = {}): Promise<string | undefined> {
  const { attempts = 500 } = options;
  let tried = 0;
  let smallest: { scenario: Scenario; simulated: Simulated } | undefined;
  const property = fc.asyncProperty(scenarios, async (scenario) => {
    // Counted, not timed: a slow machine finds the same.
    if (tried++ > attempts) return;
    const simulated = await simulate(scenario, options);
    if (simulated.violations.length === 0) return;
    smallest = { scenario, simulated };
    throw new Error('It broke an invariant');
  });
  await fc.check(property, { seed, numRuns: 1 });
  return smallest && describe(seed, smallest.scenario, smallest.simulated);
}

function describe(seed: number, scenario: Scenario, { violations, logs, observations }: Simulated): string {
  const concerned = new Set(violations.map(({ taskId }) => taskId));
  return [
    `Seed ${seed} breaks ${violations.length} invariants:`,
    ...violations
      .slice(0, 10)
      .map(({ kind, taskId, client = '', message }) => `  ${kind}: task ${taskId} ${client}: ${message}`),
    `Smallest scenario found: ${JSON.stringify(scenario)}`,
    ...logs
      .filter(({ taskId }) => concerned.has(taskId))
      .flatMap(({ taskId, facts }) => [`Log of ${taskId}:`, ...facts.map((stored) => `  ${brief(stored)}`)]),
    ...observations
      .filter(({ taskId }) => concerned.has(taskId))
      .map((seen) => `Seen: ${JSON.stringify(seen, leaveOutContent)}`),
  ].join('\n');
}

function brief({ version, commitId, fact }: StoredFact): string {
  const { type, at } = fact;
  const { format: _, type: __, at: ___, ...rest } = fact;
  return `${version} ${at} ${type} ${commitId.slice(0, 8)} ${JSON.stringify(rest).slice(0, 160)}`;
}

const leaveOutContent = (name: string, value: unknown): unknown =>
  name === 'response' || name === 'snapshot' ? '…' : value;
