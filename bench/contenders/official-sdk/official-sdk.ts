/** The official SDK, on Express, with its store in memory or its SQL store on `better-sqlite3` or `pg`. */
import { createServer } from 'node:http';
import { join } from 'node:path';
import { DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';
import { listen } from '../../harness/listen.ts';
import { vitals } from '../../harness/vitals.ts';
import { answer, given } from '../../harness/worker.ts';
import { Executor, officialCard } from './official-agent.ts';

export type OfficialSdkOptions =
  | { store: 'memory' }
  | { store: 'sqlite'; folder: string }
  | { store: 'postgres'; postgres: string };

const options = given<OfficialSdkOptions>();

async function taskStore() {
  if (options.store === 'memory') return new InMemoryTaskStore();
  const { Kysely, PostgresDialect, SqliteDialect } = await import('kysely');
  const { DatabaseTaskStore } = await import('@a2a-js/sdk/server/database');
  if (options.store === 'postgres') {
    const { default: pg } = await import('pg');
    const pool = new pg.Pool({ connectionString: options.postgres });
    return new DatabaseTaskStore(new Kysely({ dialect: new PostgresDialect({ pool }) }));
  }
  const { default: Database } = await import('better-sqlite3');
  // The tables were made by its own `a2a-db`. As durable as Baton's: a write-ahead log, and a flush for every commit.
  const database = new Database(join(options.folder, 'tasks.db'));
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  return new DatabaseTaskStore(new Kysely({ dialect: new SqliteDialect({ database }) }));
}

const requestHandler = new DefaultRequestHandler(officialCard, await taskStore(), new Executor());
const app = express().use('/', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
const url = await listen(createServer(app));

const questions = { ...vitals, url: () => url };
export type OfficialSdk = typeof questions;
answer(questions);
