export type { RedisDriver, RedisReply } from './connection/driver.ts';
export type { ClientOptions } from './connection/first-server.ts';
export { type RedisStoreOptions, redisStore } from './redis-store.ts';
