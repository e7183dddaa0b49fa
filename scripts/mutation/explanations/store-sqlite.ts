import type { Explanation } from './explanation.ts';

const commits = 'packages/store-sqlite/src/tasks/commits.ts';
const leases = 'packages/store-sqlite/src/tasks/leases.ts';
const noWebhook = 'Slower, but the same: no webhook is found.';
const anyway = 'Slower, but the same: the context is left and entered again.';
const claimFinds = 'Slower, but the same: the claim that follows finds nothing.';
const tooMany = 'Slower, but the same: of more tasks than were asked for, the claim takes the first.';

export const explanationsOfStoreSqlite: readonly Explanation[] = [
  {
    file: commits,
    line: 'const hasPush = found ? found.has_push === 1 : this.#tables.deliveries.any(scope, taskId);',
    replacements: ['true'],
    why: noWebhook,
  },
  {
    file: commits,
    line: 'if (hasPush) deliveries.plan(scope, taskId, now);',
    replacements: ['true'],
    why: noWebhook,
  },
  {
    file: commits,
    line: "return factsInOrder({ expectedVersion: 'open', facts: parsed }, last?.at ?? undefined).map((fact) =>",
    replacements: ['last.at'],
    why: 'The same: an open append to a log that is missing was refused before.',
  },
  {
    file: commits,
    line: 'if (state !== was) {',
    replacements: ['true'],
    why: 'Slower, but the same: one task is taken from a count and added again.',
  },
  {
    file: commits,
    line: 'const moved = before.head.contextId !== after.head.contextId;',
    replacements: ['true'],
    why: anyway,
  },
  {
    file: commits,
    line: 'if (!moved && countOf(state) === countOf(was)) {',
    replacements: ['false', 'countOf(state) !== countOf(was)'],
    why: anyway,
  },
  {
    file: commits,
    line: 'if (moved) contexts.deleteUnused(found.context);',
    replacements: ['true'],
    why: 'Slower, but the same: a context that the task stays in is in use.',
  },
  {
    file: commits,
    line: 'if (turn?.want && wanted && holder === undefined && queue !== undefined) changes.touch({ queue });',
    replacements: ['true'],
    why: 'The same: a commit that wants a turn names a queue.',
  },
  {
    file: leases,
    line: 'if (this.#candidates({ ...request, limit: 1 }, at).length > 0) return true;',
    why: claimFinds,
  },
  {
    file: leases,
    line: 'return request.isKept !== undefined && this.#candidates(request, at).length > 0;',
    why: claimFinds,
  },
  {
    file: leases,
    line: 'return this.#later.get(leaseNow) !== undefined;',
    replacements: ['true'],
    why: 'Slower, but the same: no lease of an earlier start is found.',
  },
  {
    file: leases,
    line: 'const taken = left.filter(({ holder }) => !isKept?.(holder!)).slice(0, limit);',
    replacements: ['left.filter(({ holder }) => !isKept?.(holder!))'],
    why: tooMany,
  },
  {
    file: leases,
    line: 'return [...taken, ...this.#turns.pick({ ...request, limit: limit - taken.length }, schedule, at)];',
    replacements: ['limit + taken.length'],
    why: tooMany,
  },
  {
    file: leases,
    line: 'if (scope === undefined) return asRows(this.#ofAnyScope.all(taskId, queue, -1));',
    replacements: ['true'],
    why: 'Slower, but the same: tasks of other scopes are left out afterwards.',
  },
  {
    file: leases,
    line: 'return row ? [row] : [];',
    replacements: ['["Stryker was here"]'],
    why: 'The same: a text is no row of the task that is asked for, and left out.',
  },
  {
    file: leases,
    line: 'endAll({ leaseNow }: Moment): void {',
    why: 'Only a Durable Object ends all leases when it starts: `store-durable-object` has the test.',
  },
  {
    file: leases,
    line: 'this.#endAll.run(leaseNow);',
    why: 'Only a Durable Object ends all leases when it starts: `store-durable-object` has the test.',
  },
  {
    file: commits,
    line: 'texts.forget(id, snapshotPieces);',
    why: 'The same: a file keeps long texts whole, so that there are no pieces to delete.',
  },
];
