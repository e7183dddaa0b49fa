import type { Explanation } from './explanation.ts';

const failing = 'packages/server/src/webhooks/hosts/failing-webhooks.ts';
const attempt = 'packages/server/src/webhooks/attempt.ts';
const deliver = 'packages/server/src/webhooks/deliver.ts';
const deliverer = 'packages/server/src/webhooks/deliverer.ts';
const anyCase = 'The same: names of headers are the same in any case, and the last of one name is sent.';
const firstIsMessage = 'No log has it: every log begins with a message, which has a context.';

export const explanationsOfPush: readonly Explanation[] = [
  {
    file: failing,
    line: 'if (webhooks?.size === 0) this.#hosts.delete(hostOf(push));',
    replacements: ['false', ';'],
    why: 'Larger, but the same: a host without webhooks is as good as none.',
  },
  {
    file: failing,
    line: 'const early = [...(this.#hosts.get(host)?.values() ?? [])].filter(',
    replacements: ['["Stryker was here"]'],
    why: 'The same: a text has no member `mayBeEarly`, and is left out.',
  },
  {
    file: failing,
    line: 'const failing = { name: { scope, taskId, id }, rejections: 0, mayBeEarly: true, early: 0 };',
    replacements: ['false'],
    why: 'The same: both callers set it.',
  },
  {
    file: 'packages/server/src/webhooks/retry-delay.ts',
    line: "const text = header?.trim() ?? '';",
    replacements: ['"Stryker was here!"'],
    why: 'The same: neither is a number or a date.',
  },
  {
    file: attempt,
    line: 'const maxBytes = 16 * 1024;',
    replacements: ['16 / 1024'],
    why: 'Faster, but the same: nothing that is read of an answer is used.',
  },
  {
    file: attempt,
    line: '[A2A_VERSION.toLowerCase()]: parcel.format.version,',
    why: anyCase,
  },
  {
    file: attempt,
    line: '[DELIVERY_ID.toLowerCase()]: parcel.id,',
    why: anyCase,
  },
  {
    file: attempt,
    line: '...(token && { [NOTIFICATION_TOKEN.toLowerCase()]: token }),',
    replacements: ['NOTIFICATION_TOKEN.toUpperCase()'],
    why: anyCase,
  },
  {
    file: attempt,
    line: "authorization: [authentication.scheme, authentication.credentials].filter(Boolean).join(' '),",
    replacements: ['[authentication.scheme, authentication.credentials]'],
    why: 'The same: a space at the end of a header is no part of it.',
  },
  {
    file: attempt,
    line: 'if (status >= 200 && status < 300) return { delivered: true, status };',
    replacements: ['true'],
    why: 'No answer has it: a final status is 200 or more.',
  },
  {
    file: attempt,
    line: "if ((status >= 300 && status < 400) || status === 404 || status === 410) return 'few';",
    replacements: ['true'],
    why: 'The same: lower ones were judged before.',
  },
  {
    file: deliver,
    line: 'const first = due.length === 0 || facts[0]?.version === 1 ? facts[0] : await firstOf();',
    replacements: ['facts[0].version'],
    why: 'The same: if no fact was read, none is due.',
  },
  {
    file: deliver,
    line: "const event = toStreamResponse({ id: taskId, contextId: contextId ?? '' }, fact);",
    replacements: ['"Stryker was here!"'],
    why: firstIsMessage,
  },
  {
    file: deliver,
    line: "traceparent: first.fact.type === 'message-received' ? first.fact.traceparent : undefined,",
    replacements: ['true'],
    why: firstIsMessage,
  },
  {
    file: deliver,
    line: "return { delivered: false, reason, retry: 'yes' };",
    replacements: ['""'],
    why: 'The same: neither is final, and neither is tried a few times only.',
  },
  {
    file: deliverer,
    line: 'if (this.#stop.signal.aborted) return;',
    replacements: ['false'],
    why: 'The same: the sleep that follows ends at once, and the loop with it.',
  },
  {
    file: deliverer,
    line: 'let progress: DeliveryProgress = { works: false, tookOne: false };',
    replacements: ['{}', 'true'],
    why: 'The same for the webhook: only while the store fails are others of its host put off for less.',
  },
  {
    file: deliverer,
    line: 'if (graceMs > 0) await this.#finish(graceMs);',
    replacements: ['true', 'graceMs >= 0'],
    why: 'The same: of no time nothing is left to wait.',
  },
  {
    file: deliverer,
    line: 'const all = Promise.all([...held, ...this.#running]).then(() => done.abort());',
    replacements: ['() => undefined'],
    why: 'Larger, but the same: a timer stays until its time is over.',
  },
];
