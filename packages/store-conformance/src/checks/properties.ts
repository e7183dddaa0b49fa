import type { TaskState } from '@batonjs/protocol';
import type { TaskQuery } from '@batonjs/store';
import fc from 'fast-check';
import { section } from '../fixture/check.ts';
import { same, walk } from '../fixture/expectations.ts';
import { command, compare } from '../model/commands.ts';
import { Model } from '../model/model.ts';
import { answered, at, created, received, status } from '../samples/facts.ts';
import { logOf } from '../samples/log.ts';

const states = ['TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_COMPLETED'] as const;
const contexts = ['c1', 'c2', ''] as const;
const labels = fc.option(fc.subarray(['eu', 'EU', 'invoice: 42']), { nil: undefined });
const moment = fc.nat(6);

/** A log and the moments of its statuses: one that was only begun, one that was answered, or a task. */
const listed = fc.record({
  contextId: fc.constantFrom(...contexts),
  kind: fc.constantFrom('begun', 'answered', 'task', 'task', 'task'),
  began: moment,
  labels: fc.array(labels, { minLength: 1, maxLength: 2 }),
  statuses: fc.array(fc.tuple(fc.constantFrom(...states.slice(0, 2)), moment), { maxLength: 2 }),
  last: fc.option(fc.tuple(fc.constantFrom<TaskState>(...states), moment), { nil: undefined }),
});

const query: fc.Arbitrary<TaskQuery> = fc.record({
  contextId: fc.option(fc.constantFrom(...contexts, 'nothing'), { nil: undefined }),
  state: fc.option(fc.constantFrom<TaskState>(...states, 'TASK_STATE_SUBMITTED'), { nil: undefined }),
  statusSince: fc.option(moment.map(at), { nil: undefined }),
  answered: fc.option(fc.boolean(), { nil: undefined }),
  labels,
  limit: fc.integer({ min: 1, max: 6 }),
});

export const propertyChecks = section('for whatever happens', {
  async 'the store does what the model does'(fixture) {
    let run = 0;
    const property = fc.asyncProperty(
      fc.array(command, { minLength: 5, maxLength: 30, size: 'max' }),
      (commands) => compare(fixture, `run ${++run}`, commands),
    );
    await fc.assert(property, { numRuns: fixture.runs, seed: fixture.seed });
  },

  async 'every page of every list is what sorting and filtering everything gives'({
    store,
    second,
    runs,
    seed,
  }) {
    let run = 0;
    const property = fc.asyncProperty(
      fc.array(listed, { maxLength: 14 }),
      fc.array(query, { maxLength: 8 }),
      async (all, queries) => {
        const scope = `run ${++run}`;
        const model = new Model();
        for (const [n, { contextId, kind, began, labels, statuses, last }] of all.entries()) {
          const log = logOf(store, { scope, taskId: `t${n}`, contextId });
          const first = received('m', contextId, at(began));
          const all = [...statuses, ...(last ? [last] : [])].map(([state, ms]) => [status(state, at(ms))]);
          const commits = {
            begun: [[first]],
            answered: [[first], [answered(at(began))]],
            task: [[first, created(log.taskId, contextId, at(began))], ...all],
          }[kind];
          for (const [n, facts] of commits.entries()) {
            log.labels = labels[n % labels.length];
            model.commit(log.prepare(facts, { commitId: 'x' }), 0);
            await log.commit(facts, { commitId: 'x' });
          }
        }
        for (const one of queries) {
          let after: TaskQuery['after'];
          for (const page of await walk(second, scope, one)) {
            same(page, model.list(scope, { ...one, after }));
            const end = page.tasks.at(-1);
            after = end && { statusAt: end.head.statusAt, taskId: end.taskId };
          }
        }
      },
    );
    await fc.assert(property, { numRuns: runs, seed });
  },
});
