import { parseArgs } from 'node:util';
import { isLoopback } from '@batonjs/protocol/headers';

/** What the program was told. */
export interface Flags {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly waitMs: number;
  /** Whether the model of the host may approve. */
  readonly modelApproves: boolean;
  /** Addresses that are not public, which the card of the agent may lead to, as in the `allow` of an address policy. */
  readonly allow: readonly string[];
  /** Undefined serves stdio. */
  readonly http:
    | { readonly port: number; readonly host: string; readonly allowedHosts: readonly string[] }
    | undefined;
}

export const usage = `Usage: baton-mcp <url of an A2A agent> [options]

Serves the agent as an MCP server over stdio: each of its skills is a tool.

  --header-env Name=VARIABLE  a header for the agent with the value of an environment variable; may be repeated
  --header "Name: value"      a header that is no secret: other users of the machine can read it; may be repeated
  --http <port>               serve streamable HTTP at http://127.0.0.1:<port>/mcp instead
  --host <address>            the address to listen on, with --allow-host if it is not of this machine alone
  --allow-host <name>         a host name that requests may have; may be repeated
  --allow <host:port>         an address inside of this network that the agent's card may lead to; may be repeated
  --model-approves            the model of the host may approve what the agent asks an approval for
  --wait <seconds>            return after so long, with the id of the task; 0, the default, waits for its end
  --help, --version
`;

/** The address is wrong, or a flag. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The environment variables of the program. */
type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the arguments of the program. Throws a `UsageError` that names the one that is wrong. */
export function readFlags(args: readonly string[], environment: Environment): Flags | 'help' | 'version' {
  const { values, positionals } = parse(args);
  if (values.help) return 'help';
  if (values.version) return 'version';
  const [url, ...more] = positionals;
  if (url === undefined) throw new UsageError('The URL of the agent is missing');
  if (more.length > 0) throw new UsageError(`One URL is enough: ${more.join(' ')}`);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageError(`Not an http or https URL: ${url}`);
  const { host = '127.0.0.1', 'allow-host': allowedHosts = [] } = values;
  if (values.http === undefined && (values.host !== undefined || allowedHosts.length > 0))
    throw new UsageError('--host and --allow-host need --http');
  if (!isLoopback(host) && allowedHosts.length === 0)
    throw new UsageError(`--host ${host} needs --allow-host with the names that clients use`);
  return {
    url,
    headers: Object.fromEntries([
      ...(values.header ?? []).map(readHeader),
      ...(values['header-env'] ?? []).map((each) => readHeaderVariable(each, environment)),
    ]),
    allow: values.allow ?? [],
    modelApproves: values['model-approves'] ?? false,
    waitMs: 1_000 * readNumber('--wait', values.wait ?? '0', 2_147_483),
    http:
      values.http === undefined
        ? undefined
        : { port: readNumber('--http', values.http, 65_535), host, allowedHosts },
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        header: { type: 'string', multiple: true },
        'header-env': { type: 'string', multiple: true },
        http: { type: 'string' },
        host: { type: 'string' },
        'allow-host': { type: 'string', multiple: true },
        allow: { type: 'string', multiple: true },
        wait: { type: 'string' },
        'model-approves': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** The value is not shown: it may be a secret. */
function readHeader(header: string): [string, string] {
  const colon = header.indexOf(':');
  const [name, value] = [header.slice(0, colon).trim(), header.slice(colon + 1).trim()];
  if (colon < 1 || !isHeader(name, value)) throw new UsageError('A --header is not "Name: value"');
  return [name, value];
}

function readHeaderVariable(header: string, environment: Environment): [string, string] {
  const [, name = '', variable = ''] = /^([^=]+)=(\w+)$/.exec(header) ?? [];
  // The flag is not shown: its second half may be a secret by mistake.
  if (!isHeader(name, '')) throw new UsageError('A --header-env is not Name=VARIABLE');
  const value = environment[variable]?.trim();
  if (!value) throw new UsageError(`The environment variable ${variable} of --header-env is not set`);
  if (!isHeader(name, value))
    throw new UsageError(`The environment variable ${variable} is not the value of a header`);
  return [name, value];
}

function isHeader(name: string, value: string): boolean {
  try {
    new Headers([[name, value]]);
    return true;
  } catch {
    return false;
  }
}

function readNumber(flag: string, text: string, most: number): number {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (number <= most) return number;
  throw new UsageError(`${flag} is a whole number from 0 to ${most}, not ${text}`);
}
