import { A2AError } from '@batonjs/protocol/errors';
import { STATE_HISTORY } from '@batonjs/protocol/headers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Loss, type LossCode, losses, type Translated, translations } from '../../src/index.ts';
import { arbitraries } from '../arbitraries.ts';

// biome-ignore lint/suspicious/noExplicitAny: the erasers below reach into values of every kind
type Any = any;

/** Reads what a path such as `configuration.pushNotificationConfig.authentication` leads to. */
const steps = (path: string) => path.match(/[^.[\]]+/g) ?? [];
const reach = (value: Any, path: readonly string[]): Any =>
  path.reduce((inner, step) => inner?.[step], value);

/** Removes or replaces the value at a path. */
function edit(value: Any, path: string, change: (found: Any, holder: Any, name: string) => void): void {
  const all = steps(path);
  const holder = reach(value, all.slice(0, -1));
  const name = all.at(-1)!;
  if (holder) change(holder[name], holder, name);
}
const drop = (value: Any, path: string) => edit(value, path, (_, holder, name) => delete holder[name]);
const set = (value: Any, path: string, member: Any) =>
  edit(value, path, (_, holder, name) => {
    holder[name] = member;
  });

/** What each loss does to a value that goes to the other version and comes back: this, and nothing else. */
const erasers: Record<LossCode, (value: Any, path: string) => void> = {
  'authentication-schemes': (value, path) =>
    edit(value, path, (found, holder, name) => {
      if (found.schemes.length === 0) delete holder[name];
      else found.schemes.length = 1;
    }),
  'request-metadata': drop,
  'state-transition-history': (value, path) =>
    edit(value, path, (_, holder, name) => {
      delete holder[name];
      if (holder.extensions?.some(({ uri }: Any) => uri === STATE_HISTORY)) holder[name] = true;
    }),
  'protocol-version': (value, path) => set(value, path, '0.3.0'),
  'transport-implied': (value, path) => set(value, path, 'JSONRPC'),
  'interface-repeated'(value) {
    const seen = new Set([JSON.stringify([value.url, value.preferredTransport ?? 'JSONRPC'])]);
    value.additionalInterfaces = value.additionalInterfaces.filter(({ url, transport }: Any) => {
      const entry = JSON.stringify([url, transport]);
      return !seen.has(entry) && seen.add(entry);
    });
    if (value.additionalInterfaces.length === 0) delete value.additionalInterfaces;
  },
  'waiting-implied': (value, path) => set(value, path, path.endsWith('blocking')),
  'state-unknown': (value, path) => set(value, path, 'TASK_STATE_UNSPECIFIED'),
  'context-id': (value, path) =>
    edit(value, path, (_, holder, name) => {
      holder[name] = holder.id ?? holder.taskId;
    }),
  tenant(value, path) {
    if (path !== 'supportedInterfaces') return drop(value, path);
    for (const entry of value.supportedInterfaces) delete entry.tenant;
  },
  references: () => {},
  'history-none': () => {},
  'cancel-metadata': () => {},
  paging: () => {},
  'device-code': drop,
  'pkce-required': drop,
  signatures: drop,
  'interface-newer'(value) {
    value.supportedInterfaces = value.supportedInterfaces.filter(
      ({ protocolVersion }: Any) => protocolVersion === '0.3',
    );
  },
};

const copyOf = (value: Any): Any => (A2AError.is(value) ? value : structuredClone(value));

/** The paths of events of 1.0 begin below their only member. */
const within = (value: Any): Any => {
  const [only] = ['task', 'message', 'statusUpdate', 'artifactUpdate'].filter(
    (name) => Object.keys(value)[0] === name,
  );
  return only && Object.keys(value).length === 1 && typeof value[only] === 'object' ? value[only] : value;
};

function erased(value: Any, lost: readonly Loss[], isEvent: boolean): Any {
  const rest = copyOf(value);
  for (const { code, path } of lost) erasers[code](isEvent ? within(rest) : rest, path);
  return rest;
}

const shown = (value: Any): Any =>
  A2AError.is(value)
    ? { reason: value.reason, message: value.message, metadata: value.metadata, details: value.details }
    : value;

interface Both {
  up(older: Any): Translated<Any>;
  down(newer: Any, isLast?: boolean): Translated<Any>;
}
const kinds = Object.keys(translations) as (keyof typeof translations)[];

describe.each(kinds)('a %s', (kind) => {
  const { up, down } = translations[kind] as Both;
  const { older, newer } = arbitraries[kind];
  const isEvent = kind === 'event';

  it('of 0.3 comes back as it was, but for the losses that were said [R-V03-14] [R-V03-13]', () => {
    fc.assert(
      fc.property(older, (value: Any) => {
        const before = copyOf(value);
        const there = up(value);
        expect(value).toEqual(before);
        const back = down(there.value, value.final).value;
        expect(back).toEqual(erased(value, there.losses, false));
      }),
    );
  });

  it('of 1.0 comes back as it was, but for the losses that were said [R-V03-14] [R-V03-13]', () => {
    fc.assert(
      fc.property(newer, (value: Any) => {
        const before = copyOf(value);
        const there = down(value);
        expect(shown(value)).toEqual(shown(before));
        const back = up(there.value).value;
        expect(shown(back)).toEqual(shown(erased(value, there.losses, isEvent)));
      }),
    );
  });

  it('can be such that nothing is missed: the two properties above are not about losses alone', () => {
    const isIntact = ({ losses: said }: Translated<Any>) =>
      said.every(({ code }) => 'harmless' in losses[code]);
    // The same values every time: optional members are there more often than not, so whole ones are rare.
    const sample = { seed: 1, numRuns: 500 };
    expect(fc.sample(older, sample).some((value) => isIntact(up(value)))).toBe(true);
    expect(fc.sample(newer, sample).some((value) => isIntact(down(value)))).toBe(true);
  });

  it('says no loss in a direction in which there is none', () => {
    const said = (translated: Translated<Any>, wrong: 'up' | 'down') =>
      translated.losses.filter(({ code }) => losses[code].direction === wrong);
    fc.assert(
      fc.property(older, newer, (one: Any, other: Any) => {
        expect(said(up(one), 'down')).toEqual([]);
        expect(said(down(other), 'up')).toEqual([]);
      }),
    );
  });
});
