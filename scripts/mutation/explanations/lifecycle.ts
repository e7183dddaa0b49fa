import type { Explanation } from './explanation.ts';

export const explanationsOfLifecycle: readonly Explanation[] = [
  {
    file: 'packages/lifecycle/src/fork/fork-log.ts',
    line: 'forked: { taskId: originId, position, ...(fork.by !== undefined && { by: fork.by }) },',
    replacements: ['true'],
    why: 'The same: a member without a value is left out when the fact is frozen.',
  },
  {
    file: 'packages/lifecycle/src/fork/fork-position.ts',
    line: "const isEnding = end >= 0 && position === end && facts[position - 1]?.type === 'turn-ended';",
    replacements: ['facts[position - 1].type'],
    why: 'The same: a log has a fact at each of its positions.',
  },
  {
    file: 'packages/lifecycle/src/turns/decide-turn.ts',
    line: ': woken || ripe.length > 0 || (wakeAt !== undefined && wakeAt <= time);',
    replacements: ['true'],
    why: 'The same: no time at all is not before any other.',
  },
  {
    file: 'packages/lifecycle/src/turns/fold-turn.ts',
    line: 'const wanted = ids.length > 8 ? new Set(ids) : undefined;',
    why: 'Slower or faster, but the same: a set and a list answer alike.',
  },
  {
    file: 'packages/lifecycle/src/values/frozen-json.ts',
    line: "if (typeof member === 'string' || typeof member === 'boolean') continue;",
    why: 'Slower, but the same: the copy of a text or a truth value is itself.',
  },
  {
    file: 'packages/lifecycle/src/values/weigh.ts',
    line: 'if (weight >= large && Object.isFrozen(value)) known.set(value, weight);',
    replacements: ['true'],
    why: 'Slower, but the same: what a value weighs is looked up instead of counted.',
  },
  {
    file: 'packages/lifecycle/src/head.ts',
    line: "contextId: '',",
    replacements: ['"Stryker was here!"'],
    why: 'The same: the first fact, which is always a message, replaces it.',
  },
  {
    file: 'packages/lifecycle/src/view.ts',
    line: 'return shown.length > historyLength ? shown.slice(-historyLength) : shown;',
    replacements: ['true', 'shown.length >= historyLength'],
    why: 'The same: of so many messages or fewer, the last so many are all.',
  },
];
