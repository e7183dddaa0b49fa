import { parseArgs } from 'node:util';
import type { Sabotage } from '../../test/histories/faults.ts';
import { type MediumName, media, mediumNamed } from './medium.ts';

export interface ChaosOptions {
  readonly store: MediumName;
  /** Where a server of the store is reached, for stores that are one. */
  readonly url: string | undefined;
  readonly kills: number;
  /** Cancels against completions instead of kills. */
  readonly cancels: number | undefined;
  readonly seed: string;
  readonly sabotage: Sabotage | undefined;
  readonly leaseMs: number;
  readonly processes: number;
  readonly clients: number;
  /** How many chunks an agent writes at most before it asks or ends. */
  readonly chunks: number;
  /** End at the latest after so many milliseconds of killing. */
  readonly forMs: number;
  /** Whether every other process works on the tasks that are run again only during calls and short runs. */
  readonly due: boolean;
}

const protections = ['fence', 'cas', 'commit-id', 'notification'] as const satisfies readonly Sabotage[];

/** Throws `TypeError` for options that make no sense. */
export function readOptions(args: readonly string[]): ChaosOptions {
  const { values } = parseArgs({
    args: args.filter((arg) => arg !== '--'),
    options: {
      store: { type: 'string', default: 'sqlite' },
      url: { type: 'string' },
      kills: { type: 'string', default: '20' },
      cancels: { type: 'string' },
      seed: { type: 'string', default: '1' },
      sabotage: { type: 'string' },
      lease: { type: 'string', default: '400' },
      processes: { type: 'string', default: '3' },
      clients: { type: 'string', default: '10' },
      for: { type: 'string', default: 'Infinity' },
      due: { type: 'boolean', default: false },
    },
  });
  const sabotage = protections.find((protection) => protection === values.sabotage);
  if (values.sabotage !== undefined && !sabotage)
    throw new TypeError(`--sabotage is one of ${protections.join(', ')}`);
  const store = mediumNamed(values.store);
  if (!store) throw new TypeError(`--store is one of ${Object.keys(media).join(', ')}`);
  return {
    store,
    url: values.url,
    kills: numberIn('kills', values.kills),
    cancels: values.cancels === undefined ? undefined : numberIn('cancels', values.cancels),
    seed: values.seed,
    sabotage,
    leaseMs: numberIn('lease', values.lease),
    processes: numberIn('processes', values.processes),
    clients: numberIn('clients', values.clients),
    chunks: 10,
    forMs: numberIn('for', values.for),
    due: values.due,
  };
}

function numberIn(name: string, value: string): number {
  const number = Number(value);
  if (!(number >= 1)) throw new TypeError(`--${name} is a number, 1 or more`);
  return number;
}
