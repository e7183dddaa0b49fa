import fc from 'fast-check';
import type { TaskPlan } from '../../scripts/workload/plan.ts';

/** Something that happens to a server. */
export interface Disturbance {
  /** Milliseconds after the start. */
  readonly at: number;
  /** Which server; beyond the last one, counting goes on from the first. */
  readonly server: number;
  readonly what: 'kill' | 'pause';
  /** How long it stays away, in milliseconds. */
  readonly ms: number;
}

/** All that makes one run different from another. */
export interface Scenario {
  /** Decides about latencies, faults and everybody's chance. */
  readonly seed: number;
  /** How wrong the clock of each server is, in milliseconds: one server each. */
  readonly skewsMs: readonly number[];
  readonly restart: 'rerun' | 'fail';
  /** The longest time a message travels, in milliseconds. */
  readonly latencyMs: number;
  readonly rates: {
    readonly delay: number;
    readonly failBefore: number;
    readonly failAfter: number;
    readonly loseNotification: number;
    readonly repeatNotification: number;
  };
  readonly tasks: readonly (TaskPlan & { readonly at: number })[];
  readonly disturbances: readonly Disturbance[];
}

export const leaseMs = 300;

const chance = (most: number) => fc.constantFrom(0, most / 4, most);

const task = fc
  .record({
    at: fc.integer({ min: 0, max: 400 }),
    agent: fc.constant<'rerun'>('rerun'),
    work: fc.record({
      chunks: fc.integer({ min: 1, max: 24 }),
      paceMs: fc.integer({ min: 0, max: 20 }),
      asks: fc.integer({ min: 0, max: 2 }),
      stubborn: fc.boolean(),
      takes: fc.boolean(),
      remembers: fc.boolean(),
      throws: fc.boolean(),
    }),
    via: fc.constantFrom('stream', 'stream', 'block', 'poll'),
    cancelAfterMs: fc.option(fc.integer({ min: 0, max: 600 }), { nil: undefined, freq: 4 }),
    asides: fc.uniqueArray(fc.nat({ max: 2 }), { maxLength: 3 }),
    late: fc.boolean(),
    leaves: fc.constantFrom(0, 0, 0.2),
  })
  // A message to a running task does most harm when the task is about to ask or to end.
  .map((plan) => ({ ...plan, asides: plan.asides.map((n) => (n + 1) * plan.work.chunks - 1) }));

const disturbance = fc.record({
  at: fc.integer({ min: 0, max: 1_000 }),
  server: fc.nat({ max: 2 }),
  what: fc.constantFrom('kill', 'pause'),
  ms: fc.integer({ min: leaseMs / 2, max: 3 * leaseMs }),
});

/** Scenarios; what makes one fail is found by leaving out the rest. */
export const scenarios: fc.Arbitrary<Scenario> = fc.noBias(
  fc.record({
    // In the order in which leaving out helps most.
    disturbances: fc.array(disturbance, { maxLength: 5 }),
    tasks: fc
      .array(task, { minLength: 1, maxLength: 4 })
      .map((tasks) => tasks.map((one, n) => ({ ...one, name: `t${n}` }))),
    rates: fc.record({
      delay: chance(0.4),
      failBefore: chance(0.1),
      failAfter: chance(0.1),
      loseNotification: chance(0.4),
      repeatNotification: chance(0.2),
    }),
    latencyMs: fc.constantFrom(0, 2, 10),
    restart: fc.constantFrom('rerun', 'rerun', 'fail'),
    skewsMs: fc.noShrink(fc.array(fc.integer({ min: -200, max: 200 }), { minLength: 2, maxLength: 3 })),
    seed: fc.noShrink(fc.nat()),
  }),
);
