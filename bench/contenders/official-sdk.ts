/** The official SDK, on Express, with its store in memory or its SQL store on `better-sqlite3`. */
import { createServer } from 'node:http';
import { join } from 'node:path';
import { AgentCard, Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';
import { listen } from '../harness/listen.ts';
import { vitals } from '../harness/vitals.ts';
import { answer, given } from '../harness/worker.ts';
import { chunkText, quoteText } from './chunk-text.ts';

const options = given<{ store: 'memory' } | { store: 'sqlite'; folder: string }>();

class Executor implements AgentExecutor {
  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { taskId, contextId, userMessage } = context;
    const ids = { taskId, contextId };
    const { content } = userMessage.parts[0]!;
    const [what, count] = (content?.$case === 'text' ? content.value : '').split(' ');
    const now = () => new Date().toISOString();
    const status = (state: string) =>
      bus.publish(
        AgentEvent.statusUpdate(
          TaskStatusUpdateEvent.fromJSON({
            ...ids,
            status: { state: `TASK_STATE_${state}`, timestamp: now() },
          }),
        ),
      );
    const artifact = (artifactId: string, text: string, append: boolean) =>
      bus.publish(
        AgentEvent.artifactUpdate(
          TaskArtifactUpdateEvent.fromJSON({
            ...ids,
            append,
            artifact: { artifactId, name: artifactId, parts: [{ text }] },
          }),
        ),
      );
    bus.publish(
      AgentEvent.task(
        Task.fromJSON({
          id: taskId,
          contextId,
          status: { state: 'TASK_STATE_SUBMITTED', timestamp: now() },
          history: [Message.toJSON(userMessage)],
        }),
      ),
    );
    status('WORKING');
    if (what === 'quote') artifact('quote', quoteText, false);
    else for (let n = 0; n < Number(count); n++) artifact('chunks', chunkText(n), n > 0);
    status('COMPLETED');
    bus.finished();
  }

  async cancelTask(): Promise<void> {}
}

async function taskStore() {
  if (options.store === 'memory') return new InMemoryTaskStore();
  const { default: Database } = await import('better-sqlite3');
  const { Kysely, SqliteDialect } = await import('kysely');
  const { DatabaseTaskStore } = await import('@a2a-js/sdk/server/database');
  // The tables were made by its own `a2a-db`. As durable as Baton's: a write-ahead log, and a flush for every commit.
  const database = new Database(join(options.folder, 'tasks.db'));
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  return new DatabaseTaskStore(new Kysely({ dialect: new SqliteDialect({ database }) }));
}

const card = AgentCard.fromJSON({
  name: 'Bench',
  description: 'Answers quotes',
  version: '1.0.0',
  supportedInterfaces: [{ url: 'http://127.0.0.1/', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
});
const requestHandler = new DefaultRequestHandler(card, await taskStore(), new Executor());
const app = express().use('/', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
const url = await listen(createServer(app));

const questions = { ...vitals, url: () => url };
export type OfficialSdk = typeof questions;
answer(questions);
