import { mkdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { shareQueue } from '@batonjs/operator';
import { type AgentServerOptions, createAgentServer } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { sqliteStore } from '@batonjs/store-sqlite';
import { usage } from '../errors/cli-error.ts';

/** Serves the agent in a file, with its tasks in another one, until `close` is called. */
export async function serveFile(
  file: string,
  port: number,
  data: string,
): Promise<{ url: string; close: () => Promise<void> }> {
  const { default: main, ...named } = (await import(pathToFileURL(file).href)) as { default?: unknown };
  const exported: Partial<AgentServerOptions> = typeof main === 'object' ? { ...main } : named;
  const agent = exported.agent ?? main;
  if (typeof agent !== 'function')
    throw usage(`${basename(file)} exports no agent`, 'Its default export is a function, or { agent, card }');
  mkdirSync(dirname(data), { recursive: true });
  const store = sqliteStore(data);
  const { name = 'agent', card = { name: basename(file), description: 'An agent in development' } } =
    exported;
  // The tasks are those of this file, whatever its card says after an edit.
  if (card.name) await shareQueue(store, name, card.name);
  const server = createAgentServer({
    // A reload in the middle of a turn runs it again.
    restart: 'rerun',
    ...exported,
    card,
    agent: agent as AgentServerOptions['agent'],
    store,
  });
  return listen(server, { port });
}
