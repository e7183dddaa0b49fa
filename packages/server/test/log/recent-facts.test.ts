import { FACT_FORMAT, type Fact } from '@batonjs/lifecycle';
import { weigh } from '@batonjs/lifecycle/internals';
import type { StoredFact } from '@batonjs/store';
import { describe, expect, it } from 'vitest';
import { say } from '../../../../test/kit/rpc.ts';
import { RecentFacts, type StreamEvent } from '../../src/log/recent-facts.ts';

const at = '2026-01-01T00:00:00.000Z';
const stored = (version: number, text = 'x'): StoredFact => {
  const fact: Fact = { format: FACT_FORMAT, at, type: 'message-received', message: say(text) };
  return { version, commitId: 'c', fact };
};
const kept = (count: number, from = 1, text?: string) => {
  const recent = new RecentFacts();
  for (let n = 0; n < count; n++) recent.push(stored(from + n, text));
  return recent;
};
const versions = (facts: readonly StoredFact[] | undefined) => facts?.map(({ version }) => version);

describe('the newest facts of a log', () => {
  it('are given after a position, unless some of them are not kept', () => {
    const recent = kept(3, 5);
    expect([3, 4, 5, 6, 7, 8].map((version) => versions(recent.after(version)))).toEqual([
      undefined,
      [5, 6, 7],
      [6, 7],
      [7],
      [],
      [],
    ]);
    expect(new RecentFacts().after(0)).toBeUndefined();
  });

  it('are 512 at most: half is dropped then', () => {
    expect(versions(kept(512).after(0))!.length).toBe(512);
    const more = kept(513);
    expect([more.after(0), more.after(256), versions(more.after(257))![0]]).toEqual([
      undefined,
      undefined,
      258,
    ]);
  });

  it('are 500,000 bytes at most, and none if one alone is larger', () => {
    const text = 'x'.repeat(100_000);
    const most = Math.floor(500_000 / weigh(stored(1, text).fact));
    expect(versions(kept(most, 1, text).after(0))!.length).toBe(most);
    const fewer = kept(most + 1, 1, text);
    expect(fewer.after(0)).toBeUndefined();
    expect(versions(fewer.after(Math.ceil((most + 1) / 2)))!.length).toBe(Math.floor((most + 1) / 2));
    const none = kept(1, 1, 'x'.repeat(600_000));
    expect(none.after(0)).toBeUndefined();
    none.push(stored(2));
    expect(versions(none.after(1))).toEqual([2]);
  });

  it('are exactly as many bytes as there may be', () => {
    const bare = weigh(stored(1, '').fact);
    const perCharacter = (weigh(stored(1, 'x'.repeat(1_000)).fact) - bare) / 1_000;
    const text = 'x'.repeat(Math.floor((500_000 - bare) / perCharacter));
    const most = weigh(stored(1, text).fact);
    const one = new RecentFacts();
    one.push(stored(1, text));
    expect([500_000 - most < perCharacter, versions(one.after(0))]).toEqual([true, [1]]);
  });

  it('weigh what their giver says', () => {
    const recent = kept(2);
    recent.push(stored(3), 500_001);
    expect([recent.after(1), versions(recent.after(2))]).toEqual([undefined, [3]]);
  });

  it('have one event each, for all followers', () => {
    const recent = new RecentFacts();
    const facts = [stored(5), stored(6)];
    for (const fact of facts) recent.push(fact);
    let made = 0;
    const make = () => ({ id: String(++made) }) as StreamEvent;
    const [first, second] = facts.map((fact) => recent.shared(fact, make));
    expect([recent.shared(facts[0]!, make), recent.shared(facts[1]!, make), made]).toEqual([
      first,
      second,
      2,
    ]);
    // A copy of a fact, and one that is not kept, have events of their own.
    recent.shared({ ...facts[0]! }, make);
    recent.shared(stored(9), make);
    expect([made, recent.shared(facts[0]!, () => undefined)]).toEqual([4, first]);
  });
});
