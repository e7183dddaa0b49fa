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
  connect: { (): Promise<Client>; (callback: never): void };
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
        const client = await pool.connect();
        let broken: Error | undefined;
        // A connection that breaks between two statements would end the process.
        const onError = (error: Error) => {
          broken = error;
        };
        client.on('error', onError);
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
