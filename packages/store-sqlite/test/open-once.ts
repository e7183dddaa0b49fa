import { sqliteStore } from '../src/index.ts';

// Opens the file it is given and prints why it could not.

try {
  await sqliteStore(process.argv[2]!).close();
  console.log(JSON.stringify({ code: 'OPENED' }));
} catch (error) {
  const { code, message } = error as Error & { code?: string };
  console.log(JSON.stringify({ code, message }));
}
