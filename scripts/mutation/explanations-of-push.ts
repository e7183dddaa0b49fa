import type { Explanation } from './explanation.ts';

const failing = 'packages/server/src/push/failing-webhooks.ts';

export const explanationsOfPush: readonly Explanation[] = [
  {
    file: failing,
    line: 'if (webhooks?.size === 0) this.#hosts.delete(hostOf(push));',
    replacements: ['false', ';'],
    why: 'Larger, but the same: a host without webhooks is as good as none.',
  },
  {
    file: failing,
    line: 'const hurried = [...(this.#hosts.get(host)?.values() ?? [])].filter(',
    replacements: ['["Stryker was here"]'],
    why: 'The same: a text has no member `mayHurry`, and is left out.',
  },
  {
    file: failing,
    line: 'const failing = { name: { scope, taskId, id }, rejections: 0, mayHurry: true, hurried: 0 };',
    replacements: ['false'],
    why: 'The same: both callers set it.',
  },
  {
    file: 'packages/server/src/push/retry-delay.ts',
    line: "const text = header?.trim() ?? '';",
    replacements: ['"Stryker was here!"'],
    why: 'The same: neither is a number or a date.',
  },
];
