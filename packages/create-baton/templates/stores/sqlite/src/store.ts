import { sqliteStore } from '@batonjs/store-sqlite';

/** Tasks in a file of this machine. They survive the process, and a power failure. */
// The words of first messages are indexed, so that the inspector and `baton tasks --text` find them.
export const store = sqliteStore(process.env.DATABASE_FILE ?? 'data/tasks.db', { textSearch: true });

export const closeStore = () => store.close();
