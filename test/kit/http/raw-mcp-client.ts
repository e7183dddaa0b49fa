/** What a client of MCP 2026-07-28 declares in each of its requests. */
export const declared = {
  tasks: { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  forms: { elicitation: { form: {} } },
  urls: { elicitation: { form: {}, url: {} } },
} as const;

/** The answer to one request. */
export interface RawAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at members of many shapes.
  readonly result: any;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at members of many shapes.
  readonly error: any;
}

/** How a request is sent. */
export interface RawOptions {
  readonly capabilities?: object;
  /** Replace those that fit the body; an empty one is left out. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

type Fetch = (request: Request) => Promise<Response>;

const clientInfo = { name: 'raw', version: '1' };
let lastId = 0;

/** A request of MCP 2026-07-28 as it is sent over HTTP. */
export function rawRequest(
  url: string | URL,
  method: string,
  params: Readonly<Record<string, unknown>>,
  { capabilities = { ...declared.tasks, ...declared.forms }, headers = {}, signal }: RawOptions = {},
): Request {
  const name =
    method === 'tools/call' ? params.name : method.startsWith('tasks/') ? params.taskId : undefined;
  lastId += 1;
  const given = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(name !== undefined && { 'mcp-name': String(name) }),
    ...headers,
  };
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': clientInfo,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    ...(params._meta as object | undefined),
  };
  return new Request(url, {
    method: 'POST',
    headers: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '')),
    body: JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params: { ...params, _meta } }),
    ...(signal && { signal }),
  });
}

/** A client that sends requests as they are, and adds nothing to what comes back. */
export function rawClient(url: string | URL, send: Fetch = fetch, all: RawOptions = {}) {
  const call = async (
    method: string,
    params: Readonly<Record<string, unknown>> = {},
    options: RawOptions = {},
  ): Promise<RawAnswer> => {
    const response = await send(rawRequest(url, method, params, { ...all, ...options }));
    const text = await response.text();
    // The response comes last in a stream.
    const json = text.startsWith('{')
      ? text
      : text
          .split('\n')
          .findLast((line) => line.startsWith('data: '))
          ?.slice(6);
    const { result, error } = JSON.parse(json ?? '{}');
    return { status: response.status, result, error };
  };
  return {
    call,
    tool: (name: string, args: object = {}, options?: RawOptions) =>
      call('tools/call', { name, arguments: args }, options),
    get: (taskId: string, options?: RawOptions) => call('tasks/get', { taskId }, options),
    update: (taskId: string, inputResponses: unknown, options?: RawOptions) =>
      call('tasks/update', { taskId, inputResponses }, options),
    cancel: (taskId: string, options?: RawOptions) => call('tasks/cancel', { taskId }, options),
    /** The messages of a stream of `subscriptions/listen`. */
    async listen(taskIds: unknown, options: RawOptions = {}) {
      const request = rawRequest(
        url,
        'subscriptions/listen',
        { notifications: { taskIds } },
        { ...all, ...options },
      );
      const response = await send(request);
      return { status: response.status, messages: messagesOf(response) };
    },
  };
}

/** The messages of a response, as they come. */
// biome-ignore lint/suspicious/noExplicitAny: tests look at members of many shapes.
async function* messagesOf({ body, headers }: Response): AsyncGenerator<any, void, void> {
  if (!body) return;
  const isStream = headers.get('content-type')?.startsWith('text/event-stream');
  let text = '';
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (!isStream) continue;
    const events = text.split('\n\n');
    text = events.pop() ?? '';
    for (const event of events)
      for (const line of event.split('\n')) if (line.startsWith('data: ')) yield JSON.parse(line.slice(6));
  }
  if (!isStream) yield JSON.parse(text);
}
