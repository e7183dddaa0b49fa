export type { RedisDriver, RedisReply } from './driver.ts';
export { type RedisStoreOptions, redisStore } from './redis-store.ts';
export type { ClientOptions } from './seeds.ts';
