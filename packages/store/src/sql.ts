export { listedFact } from './adapter/rows.ts';
export * from './adapter/sql-columns.ts';
export { wordsOf } from './adapter/words.ts';
