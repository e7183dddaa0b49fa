import { type SqlDatabase, type SqlDatabaseOptions, sqlDatabase } from '../sql-database.ts';

/** The used part of a client of `pg`. */
export interface PgClient {
  query(
    text: string,
    values?: unknown[],
  ): Promise<{ readonly rows: readonly unknown[]; readonly command: string }>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  release(error?: Error | boolean): void;
}

/** The used part of a pool of `pg`. */
export interface PgPool<Client extends PgClient> {
  connect(callback: (error: Error | undefined, client: Client | undefined) => void): void;
}

/** PostgreSQL by the pool of `pg`. Each transaction takes a client of it, which `fn` of `turn.transaction` gets. */
export const pgDatabase = <Client extends PgClient>(
  pool: PgPool<Client>,
  options?: SqlDatabaseOptions,
): SqlDatabase<Client> =>
  sqlDatabase<Client>(
    {
      dialect: 'postgres',
      query: async (client, statement, values) => (await client.query(statement, [...values])).rows,
      async transaction(run) {
        let broken: Error | undefined;
        const onError = (error: Error) => {
          broken = error;
        };
        const client = await connected(pool, onError);
        try {
          await client.query('begin');
          const result = await run(client);
          const { command } = await client.query('commit');
          // PostgreSQL answers so, without an error, where a statement had failed.
          if (command !== 'COMMIT') throw new Error('The transaction was rolled back');
          return result;
        } catch (error) {
          await client.query('rollback').catch((failed: Error) => {
            broken ??= failed;
          });
          throw error;
        } finally {
          client.removeListener('error', onError);
          client.release(broken);
        }
      },
    },
    options,
  );

/**
 * Takes a client of the pool that has a listener for errors: a connection that breaks between two statements would end
 * the process. The listener is there when the pool gives the client, and not after a promise, because the database may
 * end a connection with the very bytes that open it.
 */
const connected = <Client extends PgClient>(
  pool: PgPool<Client>,
  onError: (error: Error) => void,
): Promise<Client> =>
  new Promise((resolve, reject) => {
    pool.connect((error, client) => {
      client?.on('error', onError);
      if (client) resolve(client);
      else reject(error);
    });
  });
