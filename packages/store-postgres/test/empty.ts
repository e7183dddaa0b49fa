/** The statements that delete all tasks of a schema: faster than a fresh schema for each test. */
export const emptied = (schema: string): string[] =>
  [
    ...['tasks', 'facts', 'snapshots', 'once_keys', 'counts', 'webhooks', 'queues', 'callers', 'buckets'],
    'probes',
    'records',
  ].map((table) => `DELETE FROM "${schema}".${table}`);
