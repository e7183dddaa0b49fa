export { listedFact } from './adapter/rows.ts';
export {
  recordOfSql,
  type SqlColumn,
  type SqlType,
  sqlRecordColumns,
  sqlTaskColumns,
  sqlWebhookColumns,
  taskOfSql,
  webhookOfSql,
} from './adapter/sql-columns.ts';
export { wordsOf } from './adapter/words.ts';
