import { redisStore } from '@batonjs/store-redis';

/** Tasks in Redis, for any number of processes. `docker compose up redis` starts one. */
export const store = redisStore(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379');

export const closeStore = () => store.close();
