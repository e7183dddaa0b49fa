/**
 * The tests of what goes by time: leases, cancels, deliveries that are tried again, processes that are killed or stopped,
 * clocks, broken streams. `pnpm test:load` runs these unless it is told which; vitest takes parts of paths.
 */
export const timingSensitive: readonly string[] = [
  'packages/bindings-websocket/test/lifetime',
  'packages/client/test/following/',
  'packages/server/test/log/',
  'packages/server/test/push/',
  'packages/server/test/scenarios/',
  'packages/server/test/turns/',
  'packages/store-etcd/test/clocks',
  'packages/store-memory/test/clocks',
  'packages/store-sqlite/test/database/',
  'test/documents/tutorial',
  'test/later/',
  'test/protocol/tasks/cancel',
  'test/stores/redis-lost-past',
  'test/stores/stuck',
];
