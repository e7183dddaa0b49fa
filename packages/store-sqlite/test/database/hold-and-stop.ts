import { DatabaseSync } from 'node:sqlite';

// Stops inside a transaction, and commits when it is continued.

const db = new DatabaseSync(process.argv[2]!);
db.exec('BEGIN IMMEDIATE');
process.kill(process.pid, 'SIGSTOP');
db.exec('COMMIT');
db.close();
process.disconnect?.();
