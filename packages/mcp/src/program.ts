import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { ClientError, connect } from '@batonjs/client';
import { checkedFetch } from '@batonjs/server/address-policy';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { type Flags, readFlags, UsageError, usage } from './flags.ts';
import { listen } from './http/listen.ts';
import { mcpHandler } from './http/mcp-handler.ts';
import { serveMcpStdio } from './stdio/serve-mcp-stdio.ts';

/** What the program uses of its process. */
export interface Host {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable;
  /** Belongs to the protocol: everything for people goes to `stderr`, except what they asked for. */
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/** A program that serves until it is closed. */
export interface Serving {
  close(): Promise<void>;
}

/** Runs the program. Resolves to its exit code if it has ended, or to what ends it. */
export async function runProgram(host: Host): Promise<number | Serving> {
  let shown = (text: string) => text;
  const say = (text: string) => void host.stderr.write(`${shown(text)}\n`);
  const onError = (error: unknown) =>
    say(`baton-mcp: ${error instanceof Error ? error.message : String(error)}`);
  try {
    const flags = readFlags(host.argv, host.env);
    if (typeof flags === 'object') {
      shown = hiding(flags.headers);
      return await serve(flags, host, say, onError);
    }
    host.stdout.write(flags === 'help' ? usage : `${version()}\n`);
    return 0;
  } catch (error) {
    onError(error);
    if (error instanceof UsageError) say('See baton-mcp --help');
    else if (!ClientError.is(error)) say('The MCP server could not start');
    return error instanceof UsageError ? 2 : 1;
  }
}

async function serve(
  { url, headers, waitMs, modelApproves, allow, http }: Flags,
  { stdin, stdout }: Host,
  say: (text: string) => void,
  onError: (error: unknown) => void,
): Promise<Serving> {
  const agent = await connect(url, { headers, fetch: checkedFetch(url, { allow }) });
  if (http) {
    const listening = await listen(
      mcpHandler(() => ({ caller: 'anyone', agent }), { waitMs, modelApproves, onError }),
      http,
    );
    say(`Serving ${agent.card.name} at ${listening.url}`);
    return listening;
  }
  const transport = new StdioServerTransport(stdin, stdout);
  return serveMcpStdio(agent, { waitMs, modelApproves, onError, transport });
}

/** Takes the credentials in headers out of a text: an agent may repeat them in its errors, and hosts keep these in files. */
function hiding(headers: Readonly<Record<string, string>>): (text: string) => string {
  // What follows the scheme as well; shorter values stand in too many words.
  const secrets = Object.values(headers)
    .flatMap((value) => [value, ...value.split(/[\s=;,]+/)])
    .filter(({ length }) => length >= 8);
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text);
}

function version(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
}
