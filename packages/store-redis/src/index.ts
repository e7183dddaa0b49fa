export type { RedisDriver, RedisReply } from './connection/driver.ts';
export type { ClientOptions } from './connection/servers.ts';
export { type RedisStoreOptions, redisStore } from './redis-store.ts';
