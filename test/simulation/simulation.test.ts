import { describe, expect, it } from 'vitest';
import { repetitions } from '../kit/repetitions.ts';
import { checkSeed, scenarioOf } from './check-seed.ts';
import { simulate } from './simulate.ts';
import { spoiledStores } from './spoiled-stores.ts';

/** Everything a run shows, with ids that the agent side makes up by chance named in the order they came. */
async function historyOf(seed: number): Promise<string> {
  const names = new Map<string, string>();
  const history = JSON.stringify(await simulate(scenarioOf(seed)));
  return history.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
    if (!names.has(id)) names.set(id, `id-${names.size}`);
    return names.get(id)!;
  });
}

describe('servers over one store, in virtual time', () => {
  it('break no invariant under delays, failures, lost notifications, pauses and crashes', async () => {
    const failures: string[] = [];
    for (let seed = 1; seed <= repetitions(30, 500); seed++) {
      const failure = await checkSeed(seed);
      if (failure) failures.push(failure);
    }
    expect(failures.join('\n\n')).toBe('');
  });

  it('do the same again with the same seed', async () => {
    const [first, second, other] = [await historyOf(3), await historyOf(3), await historyOf(4)];
    expect(second).toBe(first);
    expect(other).not.toBe(first);
  });

  it.each(spoiledStores)('are caught without $without', async ({ where, ...options }) => {
    let found = 0;
    for (let seed = 1; seed <= 200 && found === 0; seed++) {
      const scenario = scenarioOf(seed);
      found = (await simulate(where?.(scenario) ?? scenario, options)).violations.length;
    }
    expect(found).toBeGreaterThan(0);
  });

  it('say what went wrong: the seed, a smaller scenario and its history', async () => {
    const spoiled = spoiledStores.find(({ without }) => without === 'the commit ids that writers search');
    let seed = 0;
    let report: string | undefined;
    while (!report) report = await checkSeed(++seed, { ...spoiled, attempts: 60 });
    expect(report).toMatch(new RegExp(`^Seed ${seed} breaks`));
    const smallest = JSON.parse(/^Smallest scenario found: (.*)$/m.exec(report ?? '')?.[1] ?? '');
    expect(JSON.stringify(smallest).length).toBeLessThan(JSON.stringify(scenarioOf(seed)).length / 1.5);
    expect(report).toContain('message-received');
  });
});
