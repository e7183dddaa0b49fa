import type { WantedTask } from '@batonjs/store/rules';
import { taskOfSql, webhookOfSql } from '@batonjs/store/sql';
import { readTaskColumns } from '../database/columns.ts';
import { keyOf } from '../database/keys.ts';
import type { Mode, Search } from './search.ts';

/** Finds tasks by name: in the order of the keys, in which all transactions lock, so that they do not wait for each other in a circle. */
export function namedTasks(
  schema: string,
  mode: Mode,
  wanted: readonly WantedTask[],
  withWebhooks = false,
): Search {
  const tasks = wanted.map(({ scope, taskId, once }) => ({
    key: keyOf(scope, taskId),
    onceKey: once === undefined ? undefined : keyOf(once),
  }));
  const lock = mode === 'lock' ? 'FOR UPDATE' : '';
  const isOne = `key = ANY('{${tasks.map(({ key }) => key)}}'::text[])`;
  const pairs = tasks.flatMap(({ key, onceKey }) => (onceKey ? [`('${key}', '${onceKey}')`] : []));
  return {
    statements: [
      `SELECT ${readTaskColumns} FROM ${schema}.tasks WHERE ${isOne} ORDER BY key ${lock}`,
      ...(withWebhooks
        ? [`SELECT * FROM ${schema}.webhooks WHERE ${isOne} ORDER BY key, config_key ${lock}`]
        : []),
      ...(pairs.length > 0
        ? [`SELECT key, once_key, version FROM ${schema}.once_keys WHERE (key, once_key) IN (${pairs})`]
        : []),
    ],
    found: ([rows = [], ...more]) => {
      const byKey = new Map(rows.map((row) => [row.key, taskOfSql(row)]));
      const webhooks = Map.groupBy(withWebhooks ? (more.shift() ?? []) : [], ({ key }) => key);
      const [used = []] = more;
      return {
        tasks: tasks.map(({ key, onceKey }) => {
          const once = used.find((row) => row.key === key && row.once_key === onceKey);
          return {
            row: byKey.get(key),
            webhooks: (webhooks.get(key) ?? []).map(webhookOfSql),
            once: once && Number(once.version),
          };
        }),
      };
    },
  };
}
