import { redisStore } from '@batonjs/store-redis';

/** Tasks in Redis, with one connection of each process. */
export const store = redisStore({ url: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379', connections: 1 });
