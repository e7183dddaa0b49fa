#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import type { Action } from './api/agent.ts';

const help = `Usage: inspector [agent url …] [options]

Opens a web app that shows A2A agents and their tasks. An agent url is that of the agent or of its card.

  --allow <what>      send, cancel: what the app may do besides looking; may be repeated, or "all"
  --header <header>   "Name: value", sent to the agents with every request; may be repeated
  --trust <url>       https URL of a key set whose signatures of cards are trusted; may be repeated
  --port <number>     the port on 127.0.0.1; any free one by default
  --no-open           only prints the address
  --help              this text

Example: inspector http://127.0.0.1:4000/agents/expense --allow send --allow cancel
`;

try {
  await run();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 2;
}

async function run(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      allow: { type: 'string', multiple: true, default: [] },
      header: { type: 'string', multiple: true, default: [] },
      trust: { type: 'string', multiple: true, default: [] },
      port: { type: 'string', default: '0' },
      'no-open': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return void process.stdout.write(help);
  const headers = Object.fromEntries(values.header.map(readHeader));
  const agents = positionals.map((url) => ({
    url: readUrl(url),
    ...(values.header.length > 0 && { connect: { headers } }),
    ...(values.trust.length > 0 && { trust: { jwks: values.trust } }),
  }));
  // Loaded only now: help and refusals need none of it.
  const { inspector } = await import('./inspector.ts');
  const handler = inspector({
    agents,
    allow: [...values.allow.flatMap(readAllowed), 'fetch-file', 'add-agent'],
  });
  const server = createServer(handler).listen(readPort(values.port), '127.0.0.1');
  await once(server, 'listening');
  const address = handler.addressAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  process.stdout.write(`The inspector is at ${address}\nCtrl-C stops it.\n`);
  if (!values['no-open'] && process.stdout.isTTY) openBrowser(address);
  const stop = () => {
    handler.close();
    server.close();
    server.closeAllConnections();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
}

function readAllowed(text: string): Action[] {
  if (text === 'all') return ['send', 'cancel'];
  if (text === 'send' || text === 'cancel') return [text];
  throw new Error(`--allow must be send, cancel or all, not "${text}"`);
}

function readHeader(text: string): [string, string] {
  const colon = text.indexOf(':');
  if (colon < 1) throw new Error(`--header must be "Name: value", not "${text}"`);
  return [text.slice(0, colon).trim(), text.slice(colon + 1).trim()];
}

function readUrl(text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text;
  throw new Error(`An agent url begins with http:// or https://, unlike "${text}"`);
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new Error(`--port must be a whole number from 0 to 65535, not "${text}"`);
}

/** Opens the address in the person's browser. Where that is not possible, the printed address is enough. */
function openBrowser(address: string): void {
  const [command, ...args] =
    process.platform === 'darwin'
      ? ['open', address]
      : process.platform === 'win32'
        ? ['cmd', '/c', 'start', '', address]
        : ['xdg-open', address];
  const child = spawn(command!, args, { stdio: 'ignore', detached: true });
  child.on('error', () => {}).unref();
}
