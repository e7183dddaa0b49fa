/**
 * Whether another connection writes the file of SQLite: `better-sqlite3` has a code, `node:sqlite` a number whose lowest
 * byte says it.
 */
export function isBusy(error: unknown): boolean {
  const { code, errcode } = Object(error);
  return /^SQLITE_BUSY/.test(String(code)) || (typeof errcode === 'number' && (errcode & 0xff) === 5);
}
