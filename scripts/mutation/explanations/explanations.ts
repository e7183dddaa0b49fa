import { explanationsOfAiSdk } from './ai-sdk.ts';
import { explanationsOfAuth } from './auth.ts';
import { explanationsOfBindings } from './bindings.ts';
import { explanationsOfCli } from './cli.ts';
import type { Explanation } from './explanation.ts';
import { explanationsOfFrontEnds } from './front-ends.ts';
import { explanationsOfInspector } from './inspector.ts';
import { explanationsOfMcp } from './mcp.ts';
import { explanationsOfOAuth } from './oauth.ts';
import { explanationsOfPush } from './push.ts';
import { explanationsOfServer } from './server.ts';
import { explanationsOfStoreEtcd } from './store-etcd.ts';
import { explanationsOfStorePostgres } from './store-postgres.ts';
import { explanationsOfStoreRules } from './store-rules.ts';
import { explanationsOfTaskGateway } from './task-gateway.ts';

export const explanations: readonly Explanation[] = [
  {
    file: 'packages/transactions/src/drivers/sqlite.ts',
    line: 'if (!isBusy(error) || performance.now() > until) throw error;',
    replacements: ['performance.now() >= until'],
    why: 'The same: the two times are never equal.',
  },
  {
    file: 'packages/transactions/src/once.ts',
    line: 'for (let pauseMs = 50; ; pauseMs = Math.min(2 * pauseMs, 5_000)) {',
    why: 'Only how often the database is asked.',
  },
  {
    file: 'packages/transactions/src/once.ts',
    line: 'for (let pauseMs = 10; ; pauseMs = Math.min(2 * pauseMs, 1_000)) {',
    why: 'Only how often a transaction is begun again.',
  },
  {
    file: 'packages/transactions/src/submissions/drain.ts',
    line: 'if (claimed.length > 0)',
    replacements: ['true'],
    why: 'Slower, but the same: a transaction without a statement changes nothing.',
  },
  ...explanationsOfAiSdk,
  ...explanationsOfAuth,
  ...explanationsOfBindings,
  ...explanationsOfCli,
  ...explanationsOfFrontEnds,
  ...explanationsOfInspector,
  ...explanationsOfMcp,
  ...explanationsOfOAuth,
  ...explanationsOfPush,
  ...explanationsOfServer,
  ...explanationsOfStoreEtcd,
  ...explanationsOfStorePostgres,
  ...explanationsOfStoreRules,
  ...explanationsOfTaskGateway,
  {
    file: 'packages/lifecycle/src/evolve.ts',
    line: 'if (taken.length > 0) next.taken = attempt > 1 ? [...next.taken, ...taken] : taken;',
    replacements: ['[]', 'false'],
    why: 'No log has it: an attempt after the first one names only messages that were taken already.',
  },
  {
    file: 'packages/lifecycle/src/evolve.ts',
    line: "messageOf(conversation, messageId)?.role === 'ROLE_AGENT' ? positionOf(conversation, messageId) : -1;",
    replacements: ['+1', 'messageOf(conversation, messageId).role'],
    why: 'No log has it: a status whose message has the id of a client’s is refused when it is decided.',
  },
  {
    file: 'packages/lifecycle/src/evolve.ts',
    line: 'if (fact.at > next.at) next.at = fact.at;',
    replacements: ['fact.at >= next.at'],
    why: 'The same: the value that is assigned is equal.',
  },
  {
    file: 'packages/lifecycle/src/evolve.ts',
    line: 'const wanted = ids.length > 8 ? new Set(ids) : undefined;',
    why: 'Slower or faster, but the same: a set and a list answer alike.',
  },
  {
    file: 'packages/lifecycle/src/values/frozen-json.ts',
    line: "if (typeof member === 'string' || typeof member === 'boolean') continue;",
    why: 'Slower, but the same: the copy of a text or a truth value is itself.',
  },
  {
    file: 'packages/lifecycle/src/values/frozen-json.ts',
    line: 'let absent = false;',
    replacements: ['true'],
    why: 'Slower, but the same: members that are absent are left out of a copy that has none.',
  },
  {
    file: 'packages/lifecycle/src/values/frozen-json.ts',
    line: 'absent ||= copied === undefined;',
    replacements: ['true'],
    why: 'Slower, but the same: members that are absent are left out of a copy that has none.',
  },
  {
    file: 'packages/lifecycle/src/values/frozen-json.ts',
    line: 'if (copied !== member) target[key] = copied;',
    replacements: ['true'],
    why: 'Slower, but the same: the value that is assigned is the one that is there.',
  },
  {
    file: 'packages/lifecycle/src/values/frozen-json.ts',
    line: '(prototype === Object.prototype || prototype === null) &&',
    replacements: ['false', 'prototype !== null'],
    why: 'Slower, but the same: a value that is not taken for a plain object is copied by way of its JSON.',
  },
  {
    file: 'packages/lifecycle/src/head.ts',
    line: "if (!head) next.contextId = fact.message.contextId ?? '';",
    replacements: ['true'],
    why: 'No log has it: a later message has the context of its task, and no other.',
  },
  {
    file: 'packages/lifecycle/src/head.ts',
    line: 'if (next.dueAt !== undefined) next.dueAt = undefined;',
    replacements: ['true'],
    why: 'The same: it is undefined already.',
  },
  {
    file: 'packages/lifecycle/src/head.ts',
    line: "contextId: '',",
    replacements: ['"Stryker was here!"'],
    why: 'The same: the first fact, which is always a message, replaces it.',
  },
  {
    file: 'packages/lifecycle/src/decide.ts',
    line: 'const at = state && state.at > now ? state.at : now;',
    replacements: ['state.at >= now'],
    why: 'The same: both values are equal.',
  },
  {
    file: 'packages/lifecycle/src/conversation.ts',
    line: 'const shared = messages.items === conversation.messages.items;',
    replacements: ['false'],
    why: 'Slower, but the same: what could be shared is copied.',
  },
  {
    file: 'packages/lifecycle/src/view.ts',
    line: 'const start = Math.max(0, length - historyLength - (hidden === -1 ? 0 : 1));',
    replacements: ['false'],
    why: 'The same: one message more is read and cut off again.',
  },
  {
    file: 'packages/lifecycle/src/view.ts',
    line: 'return shown.length > historyLength ? shown.slice(-historyLength) : shown;',
    replacements: ['true', 'shown.length >= historyLength'],
    why: 'The same: of so many messages or fewer, the last so many are all.',
  },
  {
    file: 'packages/lifecycle/src/states.ts',
    line: 'TASK_STATE_UNSPECIFIED: [],',
    replacements: ['["Stryker was here"]'],
    why: 'The same: no state has that name, and this one is never asked whether it is terminal.',
  },
];
