import { A2AError, ClientError, type ErrorReason } from '@batonjs/client';
import type { AgentCard, Part, Task } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { type Confirmation, confirmedServer } from '../src/connection/authorization-server.ts';
import { wireFetch } from '../src/connection/wire.ts';
import { clockSkew, find } from '../src/deployment/finding.ts';
import { CliError, toFailure, usage } from '../src/errors/cli-error.ts';
import { outputTo, ProgressLine, Redactor } from '../src/output/output.ts';
import { describeFile, showCard, showEvent, showParts, showReply, showTask } from '../src/output/render.ts';

const debug = 'Run the command again with --debug';

describe('a failure', () => {
  // biome-ignore format: a table reads best with one row per line
  it.each<[error: unknown, context: object, shown: object, exitCode: number]>([
    [new CliError('A2ACLI_ERR_TIMEOUT', 'Late', 'Wait'), {}, { code: 'A2ACLI_ERR_TIMEOUT', message: 'Late', hint: 'Wait' }, 5],
    [new CliError('A2ACLI_ERR_TIMEOUT', 'Late'), { hint: 'From the context' }, { code: 'A2ACLI_ERR_TIMEOUT', hint: 'From the context' }, 5],
    [usage('Wrong'), {}, { code: 'A2ACLI_ERR_USAGE', message: 'Wrong', hint: null }, 2],
    [new CliError('A2ACLI_ERR_UNREACHABLE', 'x'), {}, { hint: 'Check the address, and that the agent runs' }, 3],
    [new CliError('A2ACLI_ERR_CARD_NOT_FOUND', 'x'), {}, { hint: 'Check the reference: a host, the URL of a card, or a file' }, 3],
    [new CliError('A2ACLI_ERR_CREDENTIALS_MISSING', 'x'), {}, { hint: 'Give --bearer or --api-key, or run auth login' }, 4],
    [new CliError('A2ACLI_ERR_AUTH_FAILED', 'x'), {}, { hint: 'Check the credentials' }, 4],
    [new CliError('A2ACLI_ERR_CARD_INVALID', 'x'), {}, { hint: null }, 1],
    [new Error('broken'), {}, { code: 'A2ACLI_ERR_INTERNAL', message: 'broken', hint: debug }, 1],
    ['text', {}, { code: 'A2ACLI_ERR_INTERNAL', message: 'text', hint: debug }, 1],
    [new ClientError('NETWORK', 'x'), {}, { code: 'A2ACLI_ERR_UNREACHABLE', message: 'x' }, 3],
    [new ClientError('TIMEOUT', 'x'), {}, { code: 'A2ACLI_ERR_TIMEOUT' }, 5],
    [new ClientError('CREDENTIALS', 'x'), {}, { code: 'A2ACLI_ERR_CREDENTIALS_MISSING' }, 4],
    [new ClientError('INVALID_URL', 'x'), {}, { code: 'A2ACLI_ERR_CARD_NOT_FOUND' }, 3],
    [new ClientError('INVALID_CARD', 'x'), {}, { code: 'A2ACLI_ERR_CARD_INVALID' }, 1],
    [new ClientError('INVALID_CARD', 'http://a answers 404 with text/html, which is no card'), {}, { code: 'A2ACLI_ERR_CARD_NOT_FOUND' }, 3],
    [new ClientError('INVALID_CARD', 'http://a answers 410 with text/html, which is no card'), {}, { code: 'A2ACLI_ERR_CARD_NOT_FOUND' }, 3],
    [new ClientError('INVALID_CARD', 'http://a answers 404 today'), {}, { code: 'A2ACLI_ERR_CARD_INVALID' }, 1],
    [new ClientError('NETWORK', 'http://a answers 404 with text/html, which is no card'), {}, { code: 'A2ACLI_ERR_UNREACHABLE' }, 3],
    [new ClientError('UNTRUSTED_CARD', 'x'), {}, { code: 'A2ACLI_ERR_CARD_INVALID' }, 1],
    [new ClientError('NO_INTERFACE', 'x'), {}, { code: 'A2ACLI_ERR_CARD_INVALID' }, 1],
    [new ClientError('ABORTED', 'x'), {}, { code: 'A2ACLI_ERR_INTERNAL', hint: null }, 1],
    [new A2AError('UNAUTHENTICATED', 'x'), {}, { code: 'A2ACLI_ERR_CREDENTIALS_MISSING', message: 'x', hint: 'Give --bearer or --api-key, or run auth login', a2aCode: null }, 4],
    [new A2AError('PERMISSION_DENIED', 'x'), { hasCredentials: true, binding: 'HTTP+JSON' }, { code: 'A2ACLI_ERR_AUTH_FAILED', hint: 'Check the credentials', a2aCode: 403 }, 4],
    [new A2AError('INVALID_PARAMS', 'x'), {}, { code: 'InvalidParamsError', message: 'x', hint: debug, a2aCode: null }, 1],
    [new A2AError('TASK_NOT_FOUND', 'x'), { hint: 'This' }, { hint: 'This' }, 1],
    [new A2AError('TASK_NOT_FOUND', 'x'), { binding: 'JSONRPC' }, { code: 'TaskNotFoundError', message: 'x', hint: expect.stringContaining('task list'), a2aCode: -32001 }, 1],
    [new A2AError('TASK_NOT_CANCELABLE', 'x'), {}, { hint: expect.stringContaining('task get') }, 1],
    [new A2AError('UNSUPPORTED_OPERATION', 'x'), {}, { hint: expect.stringContaining('card get') }, 1],
    [new A2AError('RESOURCE_EXHAUSTED', 'x'), {}, { hint: 'Try again later' }, 1],
    [new A2AError('UNAVAILABLE', 'x'), {}, { hint: 'Try again later' }, 1],
    [new A2AError('TASK_NOT_FOUND', 'x'), { binding: 'HTTP+JSON' }, { a2aCode: 404 }, 1],
    [new A2AError('TASK_NOT_FOUND', 'x'), { binding: 'GRPC' }, { a2aCode: 'NOT_FOUND' }, 1],
    [new A2AError('TASK_NOT_FOUND', 'x'), { binding: 'OTHER' }, { a2aCode: null }, 1],
  ])('%s in %j', (error, context, shown, exitCode) => {
    const failure = toFailure(error, context);
    expect(failure.error).toMatchObject({ a2aCode: null, ...shown });
    expect(failure.exitCode).toBe(exitCode);
  });

  it.each<[ErrorReason, string]>([
    ['PARSE_ERROR', 'JSONParseError'],
    ['METHOD_NOT_FOUND', 'MethodNotFoundError'],
    ['METHOD_NOT_ALLOWED', 'MethodNotFoundError'],
    ['UNSUPPORTED_MEDIA_TYPE', 'ContentTypeNotSupportedError'],
    ['CONTENT_TYPE_NOT_SUPPORTED', 'ContentTypeNotSupportedError'],
    ['INTERNAL_ERROR', 'InternalError'],
    ['MESSAGE_ID_CONFLICT', 'BATON_MESSAGE_ID_CONFLICT'],
    ['PAYLOAD_TOO_LARGE', 'BATON_PAYLOAD_TOO_LARGE'],
    ['RESOURCE_EXHAUSTED', 'BATON_RESOURCE_EXHAUSTED'],
    ['UNAVAILABLE', 'BATON_UNAVAILABLE'],
    ['TASK_GENERATION_MISMATCH', 'BATON_TASK_GENERATION_MISMATCH'],
  ])('%s is called %s', (reason, name) => {
    expect(toFailure(new A2AError(reason)).error.code).toBe(name);
  });

  it('keeps its cause', () => {
    expect(new CliError('A2ACLI_ERR_INTERNAL', 'x', undefined, 7).cause).toBe(7);
    expect('cause' in new CliError('A2ACLI_ERR_INTERNAL', 'x')).toBe(false);
  });
});

/** An output whose text is kept. */
function written(options: Partial<Parameters<typeof outputTo>[2]> = {}, secrets: readonly string[] = []) {
  const texts = { stdout: '', stderr: '' };
  const into = (stream: 'stdout' | 'stderr') => ({
    write(text: string) {
      texts[stream] += text;
    },
  });
  const redactor = new Redactor();
  for (const secret of secrets) redactor.hide(secret);
  const output = outputTo({ stdout: into('stdout'), stderr: into('stderr') }, redactor, {
    output: 'text',
    ...options,
  });
  return { output, texts };
}

const parts: Part[] = [
  { text: 'Hello\n\nWorld' },
  { data: { a: [1] } },
  { raw: Buffer.from('bytes').toString('base64'), filename: 'a.bin', mediaType: 'a/b' },
  { raw: '' },
  { url: 'http://f' },
];
const task = {
  id: 't',
  contextId: 'c',
  status: {
    state: 'TASK_STATE_WORKING',
    timestamp: '2026-01-01T00:00:00Z',
    message: { messageId: 's', role: 'ROLE_AGENT', parts: [{ text: 'Soon' }] },
  },
  artifacts: [
    { artifactId: 'a', parts },
    { artifactId: 'b', name: 'Named', parts: [] },
  ],
  history: [
    { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Hi' }] },
    { messageId: 'n', role: 'ROLE_AGENT', contextId: 'c', parts: [] },
  ],
  metadata: { m: 1 },
} as unknown as Task;

describe('text output', () => {
  const status = 'Status Message:\n  Soon\n\n';
  const ids = 'Task ID: t\nContext ID: c\nState: TASK_STATE_WORKING\n';
  const artifacts =
    'Artifact: a\nContent:\n  Hello\n\n  World\n\nContent Data:\n  {\n    "a": [\n      1\n    ]\n  }\n\nContent File: a.bin (a/b, 5 bytes)\nContent File: unnamed (unknown type, 0 bytes)\nContent File: unnamed (unknown type, at http://f)\nArtifact: Named (b)\n';
  const history =
    'Message ID: m\nRole: ROLE_USER\nMessage:\n  Hi\n\nMessage ID: n\nRole: ROLE_AGENT\nContext ID: c\n';

  it.each([
    ['concise', false, undefined, ids + status + artifacts],
    ['with its history', false, true, ids + status + artifacts + history],
    [
      'with everything',
      true,
      undefined,
      `${ids}Changed: 2026-01-01T00:00:00Z\n${status}${artifacts}Metadata:\n  {\n    "m": 1\n  }\n\n${history}`,
    ],
  ])('shows a task: %s', (_, isVerbose, withHistory, text) => {
    const { output, texts } = written({ verbose: isVerbose });
    showTask(output, task, withHistory);
    expect(texts.stdout).toBe(text);
  });

  it('shows a task that has nothing', () => {
    const { output, texts } = written({ verbose: true });
    showTask(output, { id: 't', status: { state: 'TASK_STATE_WORKING' } } as never);
    expect(texts.stdout).toBe('Task ID: t\nContext ID: \nState: TASK_STATE_WORKING\n');
  });

  // biome-ignore format: a table reads best with one row per line
  it.each<[event: object, text: string]>([
    [{ message: task.history![0] }, 'Message ID: m\nRole: ROLE_USER\nMessage:\n  Hi\n\n'],
    [{ statusUpdate: { status: task.status } }, `State: TASK_STATE_WORKING\n${status}`],
    [{ artifactUpdate: { artifact: { artifactId: 'b', name: 'Named', parts: [] } } }, 'Artifact: Named (b)\n'],
    [{ task: { ...task, artifacts: [], status: { state: 'TASK_STATE_WORKING' } } }, ids],
    [{}, ''],
  ])('shows the event %j', (event, text) => {
    const { output, texts } = written();
    showEvent(output, event as never);
    expect(texts.stdout).toBe(text);
    const json = written({ output: 'json' });
    json.output.isStreaming = true;
    showEvent(json.output, event as never);
    expect(json.texts.stdout).toBe(`${JSON.stringify(event)}\n`);
  });

  it.each<[reply: object, text: string, json: string]>([
    [{ message: task.history![1] }, 'Message ID: n\nRole: ROLE_AGENT\nContext ID: c\n', '{\n  "message": {'],
    [{ task: { ...task, artifacts: [], status: { state: 'TASK_STATE_WORKING' } } }, ids, '{\n  "task": {'],
    [{}, '', '{}'],
  ])('shows the answer %j', (reply, text, json) => {
    const shown = [written(), written({ output: 'json' })] as const;
    for (const { output } of shown) showReply(output, reply as never);
    expect(shown[0].texts.stdout).toBe(text);
    expect(shown[1].texts.stdout.startsWith(json)).toBe(true);
  });

  it('shows a card', () => {
    const { output, texts } = written();
    const card = {
      name: 'C',
      description: 'Does',
      version: '1',
      provider: { organization: 'O', url: 'http://o' },
      supportedInterfaces: [
        { protocolBinding: 'JSONRPC', protocolVersion: '1.0', url: 'http://a' },
        { protocolBinding: 'GRPC', protocolVersion: '1.0', url: 'a:1', tenant: 'x' },
      ],
      capabilities: { streaming: true, extensions: [{ uri: 'e' }, { uri: 'f', required: true }] },
      securitySchemes: { o: { oauth2SecurityScheme: {} }, x: {} },
      securityRequirements: [{ schemes: { o: {}, x: {} } }, {}],
      defaultInputModes: ['a', 'b'],
      defaultOutputModes: ['c', 'd'],
      skills: [{ id: 's', name: 'S', description: 'Skill' }],
    };
    showCard(output, card as never);
    expect(texts.stdout).toBe(
      'Name: C\nDescription: Does\nVersion: 1\nProvider: O (http://o)\nInterface: JSONRPC 1.0 http://a\nInterface: GRPC 1.0 a:1 tenant x\nStreaming: true\nPush Notifications: false\nExtended Card: false\nExtension: e\nExtension: f (required)\nSecurity Scheme: o (oauth2)\nSecurity Scheme: x (undefined)\nRequires: o and x\nRequires: \nInput Modes: a, b\nOutput Modes: c, d\nSkill: s: S. Skill\n',
    );
    const bare = written();
    showCard(bare.output, { name: 'C', description: 'D', version: '1', supportedInterfaces: [] } as never);
    expect(bare.texts.stdout).toBe(
      'Name: C\nDescription: D\nVersion: 1\nStreaming: false\nPush Notifications: false\nExtended Card: false\nInput Modes: \nOutput Modes: \n',
    );
  });

  it('describes a file that is named', () => {
    expect(describeFile({ url: 'http://f', filename: 'f', mediaType: 'a/b' })).toBe('f (a/b, at http://f)');
    const both = { url: undefined, raw: 'aGk=' } as unknown as Part;
    expect(describeFile(both)).toBe('unnamed (unknown type, 2 bytes)');
    expect(describeFile({ raw: undefined } as unknown as Part)).toBe('unnamed (unknown type, 0 bytes)');
    const { output, texts } = written();
    showParts(output, [{ text: undefined, raw: '' } as unknown as Part], 'Content');
    expect(texts.stdout).toBe('Content File: unnamed (unknown type, 0 bytes)\n');
  });

  it('has notes, warnings and diagnostics for people, without secrets', () => {
    const { output, texts } = written({}, ['s3cret']);
    output.note('a s3cret\nline');
    output.warn('careful');
    output.debug('nothing');
    expect(texts).toEqual({ stdout: '', stderr: 'a [redacted] line\nWarning: careful\n' });
    const loud = written({ debug: true });
    loud.output.debug('something');
    expect(loud.texts.stderr).toBe('debug: something\n');
  });
});

describe('the progress line', () => {
  const erase = '\r\u001b[2K';
  const draw = (more: object = {}, env: Record<string, string> = { NO_COLOR: '1' }) => {
    const lines: string[] = [];
    const stderr = { isTTY: true, columns: 60, write: (text: string) => void lines.push(text), ...more };
    return { line: new ProgressLine({ stderr, env }), lines };
  };

  it('is a spinner, or a bar, with as much text as there is room for', () => {
    const { line, lines } = draw();
    line.draw();
    line.update('not yet', undefined);
    expect(lines).toEqual([]);
    line.start();
    line.update('Working\nhard', undefined);
    line.update('x'.repeat(100), { progress: 1, total: 3 });
    line.update('Done', { progress: 3, total: 3 });
    line.update('None', { progress: 0, total: 0 });
    line.stop();
    line.stop();
    expect(lines).toEqual([
      `${erase}⠋ not yet`,
      `${erase}⠋ Working hard`,
      `${erase}${'█'.repeat(8)}${'░'.repeat(16)}  33 % ${'x'.repeat(26)}`,
      `${erase}${'█'.repeat(24)} 100 % Done`,
      `${erase}⠋ None`,
      erase,
    ]);
  });

  it('has room for ten characters at least, and 80 columns unless the terminal says otherwise', () => {
    for (const [columns, room] of [
      [20, 10],
      [undefined, 46],
    ] as const) {
      const { line, lines } = draw({ columns });
      line.start();
      line.update('x'.repeat(100), undefined);
      line.stop();
      expect(lines[1]).toBe(`${erase}⠋ ${'x'.repeat(room)}`);
    }
  });

  it('goes on with the next frame, and is erased before other text', async () => {
    const { line, lines } = draw();
    line.erase();
    expect(lines).toEqual([]);
    line.start();
    line.start();
    await expect.poll(() => lines).toContain(`${erase}⠙ `);
    line.erase();
    line.erase();
    expect(lines.filter((text) => text === erase)).toHaveLength(1);
    line.stop();
    expect(lines.filter((text) => text === erase)).toHaveLength(1);
    const { output, texts } = written();
    output.progress = { erase: () => (texts.stderr += '<'), draw: () => (texts.stderr += '>') } as never;
    output.note('a');
    expect(texts.stderr).toBe('<a\n>');
  });
});

describe('messages on the wire', () => {
  const exchange = async (
    given: Request,
    more: Partial<Parameters<typeof wireFetch>[0]> = {},
    response = new Response('a\nb\n', {
      status: 201,
      statusText: 'Made',
      headers: { 'x-a': 'b', 'Set-Cookie': 's3cret' },
    }),
  ) => {
    const lines: string[] = [];
    const sent: Request[] = [];
    const send = async (request: Request) => {
      sent.push(request);
      return response;
    };
    const trace = (line: string) => void lines.push(line.replace(/\d+m?s\b/, 'n ms'));
    const reply = await wireFetch({ query: {}, origins: new Set(), send, trace, ...more })(given);
    return { lines, sent, reply };
  };

  it('are shown without credentials', async () => {
    const headers = {
      authorization: 's3cret',
      cookie: 's3cret',
      'Proxy-Authorization': 's3cret',
      'X-API-Key': 's3cret',
      'x-api-keys': 'shown',
    };
    const request = new Request('http://a.example/x', { method: 'POST', body: 'hello', headers });
    const { lines, sent, reply } = await exchange(request);
    expect(await sent[0]!.text()).toBe('hello');
    expect([reply.status, reply.statusText, reply.headers.get('x-a'), await reply.text()]).toEqual([
      201,
      'Made',
      'b',
      'a\nb\n',
    ]);
    expect(lines).toEqual([
      '> POST http://a.example/x',
      '> authorization: [redacted]',
      '> content-type: text/plain;charset=UTF-8',
      '> cookie: [redacted]',
      '> proxy-authorization: [redacted]',
      '> x-api-key: [redacted]',
      '> x-api-keys: shown',
      '> hello',
      '< 201 after n ms',
      '< content-type: text/plain;charset=UTF-8',
      '< set-cookie: [redacted]',
      '< x-a: b',
      '< a',
      '< b',
    ]);
  });

  it('without a body are shown without one', async () => {
    const { lines, reply } = await exchange(
      new Request('http://a.example/'),
      {},
      new Response(null, { status: 204 }),
    );
    expect(lines).toEqual(['> GET http://a.example/', '< 204 after n ms']);
    expect(reply.body).toBeNull();
  });

  it.each([
    [{ key: 'a b' }, ['http://a.example'], 'http://a.example/x?q=1&key=a+b'],
    [{ key: 'a b' }, ['http://b.example'], 'http://a.example/x?q=1'],
    [{}, ['http://a.example'], 'http://a.example/x?q=1'],
  ])('have the query %j at %j: %s', async (query, origins, url) => {
    const request = new Request('http://a.example/x?q=1', { method: 'POST', body: 'hello' });
    const { sent, lines } = await exchange(request, { query, origins: new Set(origins), trace: undefined });
    expect([sent[0]!.url, sent[0]!.method, await sent[0]!.text(), lines]).toEqual([url, 'POST', 'hello', []]);
  });
});

describe('a check of a deployment', () => {
  it.each<[string, () => Promise<unknown>, object]>([
    ['is well', async () => ({ isOk: true, note: 'n' }), { result: 'ok', note: 'n' }],
    ['is not', async () => ({ isOk: false, note: 'n' }), { result: 'problem', note: 'n' }],
    ['does not apply', async () => undefined, { result: 'skipped', note: 'does not apply' }],
    ['fails', () => Promise.reject(new Error('why')), { result: 'problem', note: 'why' }],
    ['fails with text', () => Promise.reject('why'), { result: 'problem', note: 'why' }],
  ])('%s', async (_, look, finding) => {
    expect(await find('c', look as never)).toEqual({ check: 'c', ...finding });
  });

  it.each([
    [10_000, 10_000, 10_000, '0s', true],
    [12_000, 10_000, 10_000, '2s', true],
    [12_001, 10_000, 10_000, '2.001s', false],
    [7_999, 10_000, 10_000, '-2.001s', false],
    // Half of the time of the question may be the way there.
    [13_000, 10_000, 11_000, '2.5s', true],
    [13_001, 10_000, 11_000, '2.501s', false],
    [3_670_000, 10_000, 10_000, '1h1m', false],
  ])('of a clock at %i, asked from %i to %i, finds %s: %s', (theirs, before, after, skew, isOk) => {
    expect(clockSkew(theirs, before, after)).toEqual({
      isOk,
      note: `${skew} from the clock of this machine`,
    });
  });
});

describe('an authorization server', () => {
  const origin = 'http://agent.example';
  const card = (securitySchemes: unknown, list: readonly string[] = []) =>
    ({
      name: 'C',
      skills: [{ id: 's' }],
      securitySchemes,
      securityRequirements:
        list.length > 0 ? [{ schemes: { o: { list } } }, { schemes: { o: { list } } }] : [],
    }) as unknown as AgentCard;
  const oauth = (flows: object, more: object = {}) => ({ o: { oauth2SecurityScheme: { flows, ...more } } });
  const flow = (at = origin) => ({ tokenUrl: `${at}/token`, scopes: { a: '', b: '' } });
  const device = oauth({ deviceCode: flow() });
  const client = oauth({ clientCredentials: flow() });
  const oidc = {
    o: { openIdConnectSecurityScheme: { openIdConnectUrl: `${origin}/x/.well-known/openid-configuration` } },
  };
  const none: Confirmation = { origin, confirmed: undefined, flow: undefined, scopes: undefined };

  // biome-ignore format: a table reads best with one row per line
  it.each<[what: string, card: AgentCard, more: Partial<Confirmation>, found: Record<string, unknown>]>([
    ['of devices', card(device), {}, { server: `${origin}/token`, flow: 'device', list: ['a', 'b'] }],
    ['of programs', card(client), {}, { server: `${origin}/token`, flow: 'client-credentials', list: ['a', 'b'] }],
    ['of both', card(oauth({ deviceCode: flow(), clientCredentials: flow() })), {}, { flow: 'device' }],
    ['of OpenID Connect', card(oidc), {}, { server: `${origin}/x`, flow: undefined, list: ['openid'] }],
    ['of OpenID Connect, by a flow', card(oidc), { flow: 'device' }, { server: `${origin}/x` }],
    ['with the scopes that are required, each once', card(device, ['x', 'y', 'x']), {}, { list: ['x', 'y'] }],
    ['of OpenID Connect with the scopes that are required', card(oidc, ['x']), {}, { list: ['x'] }],
    ['with the scopes of the user', card(device, ['x']), { scopes: ['u'] }, { list: ['u'] }],
    ['by its metadata', card(oauth({ deviceCode: flow('http://id.example') }, { oauth2MetadataUrl: `${origin}/.well-known/oauth-authorization-server/x` })), {}, { server: `${origin}/x` }],
    ['that the user named', card(oauth({ deviceCode: flow('http://id.example') })), { confirmed: 'http://id.example/.well-known/openid-configuration' }, { server: 'http://id.example' }],
    ['of the flow that the user named', card({ ...client, p: { oauth2SecurityScheme: { flows: { deviceCode: flow() } } } }), { flow: 'device' }, { flow: 'device', scheme: 'p' }],
  ])('is found: %s', (_, given, more, { list, scheme = 'o', ...found }) => {
    const confirmed = confirmedServer(given, { ...none, ...more });
    expect(confirmed).toMatchObject(found);
    expect(confirmed.card.skills).toEqual([]);
    const [requirement] = confirmed.card.securityRequirements as unknown as [{ schemes: Record<string, { list: unknown }> }];
    expect(Object.keys(requirement.schemes)).toEqual([scheme]);
    if (list) expect(requirement.schemes[scheme as string]!.list).toEqual(list);
  });

  // biome-ignore format: a table reads best with one row per line
  it.each<[what: string, card: AgentCard, more: Partial<Confirmation>, message: string, hint: string | undefined]>([
    ['none is named', { name: 'C' } as AgentCard, {}, 'C asks for no credentials: it can be called without a login', undefined],
    ['no way is known', card({ b: { httpAuthSecurityScheme: { scheme: 'Basic' } } }), {}, 'C offers no way to log in that this tool knows', 'Give --bearer or --api-key'],
    ['no flow is known', card(oauth({ password: flow() })), {}, 'C offers no way to log in that this tool knows', 'Give --bearer or --api-key'],
    ['another flow', card(device), { flow: 'client-credentials' }, 'The card offers no client credentials', 'Give --flow device'],
    ['the other flow', card(client), { flow: 'device' }, 'The card offers no device code', 'Give --flow client-credentials'],
    ['elsewhere', card(oauth({ deviceCode: flow('http://id.example') })), {}, `The card names the authorization server http://id.example/token, not at ${origin}: it gets nothing unless you name it`, 'Give --authorization-server with that address, if it is the one that you trust'],
    ['another', card(device), { confirmed: 'http://id.example' }, `The card names the authorization server ${origin}/token, not http://id.example: it gets nothing unless you name it`, 'Give --authorization-server with that address, if it is the one that you trust'],
  ])('is refused: %s', (_, given, more, message, hint) => {
    try {
      confirmedServer(given, { ...none, ...more });
      expect.unreachable();
    } catch (error) {
      expect([(error as CliError).code, (error as Error).message, (error as CliError).hint]).toEqual(['A2ACLI_ERR_USAGE', message, hint]);
    }
  });
});
