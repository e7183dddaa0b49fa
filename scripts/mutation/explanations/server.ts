import type { Explanation } from './explanation.ts';

export const explanationsOfServer: readonly Explanation[] = [
  {
    file: 'packages/server/src/log/write/write.ts',
    line: 'return facts.length > 0 || dueAt !== head.dueAt ? { ...head, dueAt } : undefined;',
    replacements: ['true'],
    why: 'The same: a head that is as it was is written once more.',
  },
  {
    file: 'packages/server/src/turns/task-run.ts',
    line: 'if (state.cancelRequested) return this.#task.cancel();',
    replacements: ['false'],
    why: 'The same in the end: a task with a cancel request is canceled when its agent fails the check, or when it is claimed again.',
  },
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
    file: 'packages/server/src/operations/callbacks/receive-callback.ts',
    line: 'const now = clock < live.state.at ? live.state.at : clock;',
    replacements: ['clock <= live.state.at'],
    why: 'The same: both are the same text then.',
  },
  {
    file: 'packages/server/src/turns/retries/attempts.ts',
    line: /^case '.+':$/,
    why: 'The same: the last branch says so for a fact that no case names. The compiler wants each named.',
  },
  {
    file: 'packages/server/src/turns/steps/try-step.ts',
    line: 'if (outer.aborted) follow();',
    why: 'No test has it: the turn would have to end between the check before a try and the try.',
  },
  {
    file: 'packages/server/src/front/callbacks/callbacks.ts',
    line: 'callbacks?.rate && (await store.take?.(`callbacks ${queue} ${remoteAddress}`, callbacks.rate));',
    replacements: ['store.take(`callbacks ${queue} ${remoteAddress}`, callbacks.rate)'],
    why: 'The same: a server whose callbacks have a rate has a store that counts.',
  },
  {
    file: 'packages/server/src/turns/outside/open-callback.ts',
    line: "if (receivedAt === undefined || (latest.get(name)?.receivedAt ?? '') > receivedAt) continue;",
    replacements: ["(latest.get(name)?.receivedAt ?? '') >= receivedAt"],
    why: 'Nothing says which of two values of one name and one millisecond is the latest.',
  },
  {
    file: 'packages/server/src/front/callbacks/callbacks.ts',
    line: "if (!/^application\\/(json|[\\w.+-]+\\+json)\\s*(;|$)/i.test(exchange.headers['content-type'] ?? ''))",
    replacements: ['"Stryker was here!"'],
    why: 'The same: neither text is a type of JSON.',
  },
  {
    file: 'packages/server/src/front/callbacks/callbacks.ts',
    line: 'callbacks?.rate && (await store.take?.(`callbacks ${queue} ${remoteAddress}`, callbacks.rate));',
    replacements: ['callbacks.rate'],
    why: 'The same: callbacks are answered only by a server that has the option.',
  },
  {
    file: 'packages/server/src/operations/bulk/bulk-tasks.ts',
    line: "changed: changed + count('done'),",
    why: 'The same: it is only asked whether anything changed.',
  },
  {
    file: 'packages/server/src/operations/recurring/schedule-record.ts',
    line: "const [part] = fact.type === 'message-received' || fact.type === 'answered' ? fact.message.parts : [];",
    replacements: ['""'],
    why: 'The same: a log that an answer ended is older than the one in the other place, which counts.',
  },
  {
    file: 'packages/server/src/operations/recurring/schedule-record.ts',
    line: "const entry: Entry = JSON.parse(part && 'text' in part ? part.text : '{}');",
    why: 'No log has it: each fact of a record has one text.',
  },
];
