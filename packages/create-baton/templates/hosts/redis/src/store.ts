import { redisStore } from '@batonjs/store-redis';

/** Tasks in Redis. Each process has two connections at most. */
export const store = redisStore(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379');
