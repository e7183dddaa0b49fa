import { sqliteStore } from '../../src/index.ts';

// Opens the file it is given and prints why it could not: as another user if it is given one. Only now, with all code
// loaded, because that user may not be able to read it.

const [path, user] = process.argv.slice(2);
if (user !== undefined) {
  process.setgroups?.([]);
  process.setgid?.(Number(user));
  process.setuid?.(Number(user));
}
try {
  await sqliteStore(path!).close();
  console.log(JSON.stringify({ code: 'OPENED' }));
} catch (error) {
  const { code, message } = error as Error & { code?: string };
  console.log(JSON.stringify({ code, message }));
}
