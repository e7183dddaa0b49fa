import type { Explanation } from './explanation.ts';

export const explanationsOfServer: readonly Explanation[] = [
  {
    file: 'packages/server/src/front/calls/answer-call.ts',
    line: ': [];',
    why: 'The same: where the card declares no extensions, none that is asked for is active.',
  },
  {
    file: 'packages/server/src/base/system/new-id.ts',
    line: 'if (used === pool.length) {',
    replacements: ['true'],
    why: 'Slower, but the same: random bytes are fetched for each id.',
  },
  {
    file: 'packages/server/src/front/http/fetch.ts',
    line: 'const letGo = () => void iterator.return?.();',
    replacements: ['iterator.return()'],
    why: 'No reply has it: the body of a stream can be left.',
  },
  {
    file: 'packages/server/src/log/generation/generation-at.ts',
    line: 'for (let at = version; at < end; ) {',
    replacements: ['at <= end'],
    why: 'Slower, but the same: what is read after the last fact does not count.',
  },
  {
    file: 'packages/server/src/log/snapshot-policy.ts',
    line: 'if (2 * state.weight <= largest || weigh(snapshot.state) <= largest) return snapshot;',
    replacements: ['2 * state.weight < largest'],
    why: 'Slower, but the same: a state that is weighed is no heavier than it was estimated.',
  },
  {
    file: 'packages/server/src/operations/create-task-push-notification-config.ts',
    line: 'const known = request.id === undefined ? undefined : await push.store.getPushConfig(scope, taskId, id);',
    replacements: ['false'],
    why: 'Slower, but the same: no webhook has a fresh id.',
  },
  {
    file: 'packages/server/src/log/event-stream.ts',
    line: 'if (this.#isOver) return;',
    replacements: ['false'],
    why: 'The same: what a stream that is over would leave is undefined by then.',
  },
  {
    file: 'packages/server/src/log/live-task.ts',
    line: "this.#origin ??= (await commitIdAt(this.dependencies.store, this.scope, this.taskId, 1)) ?? '';",
    replacements: ['"Stryker was here!"'],
    why: 'No log has it: a task that is read has a first fact, which has the id of a commit.',
  },
  {
    file: 'packages/server/src/log/write/append-openly.ts',
    line: "if (!StoreError.is(error, 'UNAVAILABLE') || clock.monotonic() + waitMs >= deadline) throw error;",
    replacements: ['clock.monotonic() + waitMs > deadline'],
    why: 'The same but for one moment: it ends at the deadline or just after it.',
  },
  {
    file: 'packages/server/src/operations/accept/accept-message.ts',
    line: 'for (const begun of existing?.state.skills ?? []) checkSkill(begun, context.caller, card);',
    replacements: ['["Stryker was here"]'],
    why: 'The same: a skill that the card does not list asks for nothing.',
  },
];
