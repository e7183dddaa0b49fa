#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { ClientError, connect } from '@batonjs/client';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { type Flags, readFlags, UsageError, usage } from './flags.ts';
import { listen } from './http/listen.ts';
import { mcpHandler } from './http/mcp-handler.ts';
import { toMcp } from './server/to-mcp.ts';

// Standard output belongs to the protocol: everything for people goes to standard error.
const say = (text: string) => process.stderr.write(`${text}\n`);
const onError = (error: unknown) =>
  say(`baton-mcp: ${error instanceof Error ? error.message : String(error)}`);

try {
  const flags = readFlags(process.argv.slice(2), process.env);
  if (flags === 'help') process.stdout.write(usage);
  else if (flags === 'version') process.stdout.write(`${version()}\n`);
  else await serve(flags);
} catch (error) {
  onError(error);
  if (error instanceof UsageError) say('See baton-mcp --help');
  else if (!ClientError.is(error)) say('The MCP server could not start');
  process.exit(error instanceof UsageError ? 2 : 1);
}

async function serve({ url, headers, waitMs, http }: Flags): Promise<void> {
  const agent = await connect(url, { headers });
  const serving = http
    ? await listen(mcpHandler(agent, { waitMs, onError }), http)
    : serveStdio(toMcp(agent, { waitMs, onError }), { onerror: onError });
  if ('url' in serving) say(`Serving ${agent.card.name} at ${serving.url}`);
  const stop = () => void serving.close().then(() => process.exit(0));
  process.once('SIGINT', stop).once('SIGTERM', stop);
}

function version(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
}
