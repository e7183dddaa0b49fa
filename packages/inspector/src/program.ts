import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import { keepAliveMs } from '@batonjs/server/adapter';
import type { Action } from './api/agent.ts';

/** What `--help` prints. */
export const help = `Usage: inspector [agent url …] [options]

Serves a web app that shows A2A agents and their tasks. An agent url is that of the agent or of its card.

  --allow <what>      send, cancel: what the app may do besides looking; may be repeated, or "all"
  --header <header>   "Name: value", sent to the agents with every request; may be repeated
  --trust <url>       https URL of a key set whose signatures of cards are trusted; may be repeated
  --port <number>     the port on 127.0.0.1; any free one by default
  --help              this text

Example: inspector http://127.0.0.1:4000/agents/expense --allow send --allow cancel
`;

/** What the program uses of its process. */
export interface Host {
  readonly argv: readonly string[];
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/** A program that serves until it is closed. */
export interface Serving {
  close(): void;
}

/** Runs the program. Resolves to its exit code if it has ended, or to what ends it. */
export async function runProgram(host: Host): Promise<number | Serving> {
  try {
    return await serve(host);
  } catch (error) {
    host.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    return 2;
  }
}

async function serve({ argv, stdout }: Host): Promise<number | Serving> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      allow: { type: 'string', multiple: true, default: [] },
      header: { type: 'string', multiple: true, default: [] },
      trust: { type: 'string', multiple: true, default: [] },
      port: { type: 'string', default: '0' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    stdout.write(help);
    return 0;
  }
  const headers = Object.fromEntries(values.header.map(readHeader));
  const agents = positionals.map((url) => ({
    url: readUrl(url),
    connect: { headers },
    ...(values.trust.length > 0 && { trust: { jwks: values.trust } }),
  }));
  // Loaded only now: help and refusals need none of it.
  const { inspector } = await import('./inspector.ts');
  const handler = inspector({
    agents,
    allow: [...values.allow.flatMap(readAllowed), 'fetch-file', 'add-agent'],
  });
  const server = createServer({ keepAliveTimeout: keepAliveMs }, handler);
  server.listen(readPort(values.port), '127.0.0.1');
  await once(server, 'listening');
  const address = handler.addressAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  stdout.write(`The inspector is at ${address}\nCtrl-C stops it.\n`);
  return {
    close() {
      handler.close();
      server.close();
      server.closeAllConnections();
    },
  };
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
