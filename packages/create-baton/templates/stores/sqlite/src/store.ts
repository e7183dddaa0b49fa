import { sqliteStore } from '@batonjs/store-sqlite';

/** Tasks in a file of this machine. They survive the process, and a power failure. */
export const store = sqliteStore(process.env.DATABASE_FILE ?? 'data/tasks.db');

export const closeStore = () => store.close();
