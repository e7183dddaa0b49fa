import { parseArgs } from 'node:util';
import { type MediumName, media } from '../chaos/medium.ts';

export interface GatewayChaosOptions {
  readonly store: MediumName;
  readonly tasks: number;
  readonly kills: number;
  readonly seed: string;
  readonly leaseMs: number;
  /** Whether the agent is one without idempotency. */
  readonly foreign: boolean;
}

/** Throws `TypeError` for options that make no sense. */
export function readOptions(args: readonly string[]): GatewayChaosOptions {
  const { values } = parseArgs({
    args: args.filter((arg) => arg !== '--'),
    options: {
      store: { type: 'string', default: 'sqlite-normal' },
      tasks: { type: 'string', default: '500' },
      kills: { type: 'string', default: '40' },
      seed: { type: 'string', default: '1' },
      lease: { type: 'string', default: '1000' },
      foreign: { type: 'boolean', default: false },
    },
  });
  if (!Object.hasOwn(media, values.store))
    throw new TypeError(`--store is one of ${Object.keys(media).join(', ')}`);
  const { store, tasks, kills, lease, ...rest } = values;
  for (const [name, value] of Object.entries({ tasks, kills, lease }))
    if (!/^[1-9]\d*$/.test(value)) throw new TypeError(`--${name} is a number, 1 or more`);
  return {
    ...rest,
    store: store as MediumName,
    tasks: Number(tasks),
    kills: Number(kills),
    leaseMs: Number(lease),
  };
}
