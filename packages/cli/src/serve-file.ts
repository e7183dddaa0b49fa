/** The process that `baton dev` starts again after each change: serves the agent in a file. */
import { mkdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type AgentServerOptions, createAgentServer } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { sqliteStore } from '@batonjs/store-sqlite';

const [file = '', port = '4000', data = ''] = process.argv.slice(2);
const module = (await import(pathToFileURL(file).href)) as Partial<AgentServerOptions> & {
  default?: unknown;
};
const exported =
  typeof module.default === 'object' ? (module.default as Partial<AgentServerOptions>) : module;
const agent = exported.agent ?? module.default;
if (typeof agent !== 'function') {
  console.error(`${basename(file)} exports no agent: its default export is a function, or { agent, card }`);
} else {
  mkdirSync(dirname(data), { recursive: true });
  const server = createAgentServer({
    card: { name: basename(file), description: 'An agent in development' },
    // A reload in the middle of a turn runs it again.
    restart: 'rerun',
    ...exported,
    agent: agent as AgentServerOptions['agent'],
    store: sqliteStore(data),
  });
  const { url, close } = await listen(server, { port: Number(port) });
  console.log(`URL: ${url}`);
  const stop = () => void close().then(() => process.exit());
  process.on('SIGTERM', stop).on('SIGINT', stop);
}
