import { A2AError, connect } from '@batonjs/client';
import { describe, expect, it } from 'vitest';
import { bothBindings, cardOf, collect, failureOf, serve, taskIn } from './serve.ts';

const once = { retry: false } as const;

/** A JSON-RPC server that answers every call with this text. */
const answering = async (body: string, more = {}) => {
  const { url } = await serve((_, response) =>
    response.writeHead(200, { 'content-type': 'application/json', ...more }).end(body),
  );
  return url;
};
const withResult = (binding: string, result: string) =>
  answering(binding === 'JSONRPC' ? `{"jsonrpc":"2.0","id":1,"result":${result}}` : result);

describe.each(['JSONRPC', 'HTTP+JSON'])(
  'null in replies on %s is a member left out [R-JSON-12]',
  (binding) => {
    const client = async (result: string) =>
      connect(bothBindings(await withResult(binding, result)), { binding, ...once });

    it('in an empty page of tasks, as the Go SDK writes it', async () => {
      const agent = await client('{"tasks":null,"totalSize":0,"pageSize":50,"nextPageToken":null}');
      expect(await agent.listTasks()).toEqual({ tasks: [], totalSize: 0, pageSize: 50, nextPageToken: '' });
    });

    it('in an empty page of webhooks', async () => {
      const agent = await client('{"configs":null,"nextPageToken":null}');
      expect(await agent.listTaskPushNotificationConfigs({ taskId: 't-1' })).toEqual({ configs: [] });
    });

    it('in place of an empty page or result', async () => {
      const agent = await client('null');
      expect(await agent.listTasks()).toEqual({ tasks: [], nextPageToken: '' });
      expect(await agent.listTaskPushNotificationConfigs({ taskId: 't-1' })).toEqual({ configs: [] });
      expect(await agent.deleteTaskPushNotificationConfig({ taskId: 't-1', id: 'p-1' })).toEqual({});
      expect((await failureOf(agent.getTask({ id: 't-1' }))).reason).toBe('INVALID_AGENT_RESPONSE');
    });

    it('in a task', async () => {
      const artifacts = '[{"artifactId":"a-1","name":null,"parts":null,"metadata":{"kept":null}}]';
      const status = '{"state":"TASK_STATE_WORKING","message":null,"timestamp":null}';
      const task = `{"id":"t-1","contextId":null,"status":${status},"artifacts":${artifacts},"history":null}`;
      const agent = await client(task);
      expect(await agent.getTask({ id: 't-1' })).toEqual({
        id: 't-1',
        status: { state: 'TASK_STATE_WORKING' },
        artifacts: [{ artifactId: 'a-1', parts: [], metadata: { kept: null } }],
      });
    });

    it('in the answer to a message, but not in data', async () => {
      const parts = '[{"text":"one","data":null,"url":null},{"text":null,"data":{"x":null}},{"data":null}]';
      const message = `{"messageId":"m-1","role":"ROLE_AGENT","taskId":null,"parts":${parts}}`;
      const agent = await client(`{"task":null,"message":${message}}`);
      expect(await agent.send('hello')).toEqual({
        message: {
          messageId: 'm-1',
          role: 'ROLE_AGENT',
          parts: [{ text: 'one' }, { data: { x: null } }, { data: null }],
        },
      });
    });
  },
);

describe('null in streams is a member left out [R-JSON-12]', () => {
  it.each(['JSONRPC', 'HTTP+JSON'])('on %s', async (binding) => {
    const events = [
      '{"task":{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_WORKING","message":null},"artifacts":null},"message":null,"statusUpdate":null}',
      '{"task":null,"artifactUpdate":{"taskId":"t-1","contextId":"c-1","artifact":{"artifactId":"a-1","name":null,"parts":[{"text":"x"}]},"append":null}}',
      '{"message":null,"statusUpdate":{"taskId":"t-1","contextId":null,"status":{"state":"TASK_STATE_COMPLETED"}}}',
    ].map((event) =>
      binding === 'JSONRPC' ? `{"jsonrpc":"2.0","id":1,"error":null,"result":${event}}` : event,
    );
    const url = await answering(events.map((event) => `data: ${event}\n\n`).join(''), {
      'content-type': 'Text/Event-Stream; charset=utf-8',
    });
    const stream = (await connect(bothBindings(url), { binding, ...once })).stream('hello');
    expect(await stream.result()).toEqual({
      task: taskIn('COMPLETED', { artifacts: [{ artifactId: 'a-1', parts: [{ text: 'x' }] }] }),
    });
  });
});

describe('an artifact after the end of its task, as AgentScope for Java sends it', () => {
  const of = { taskId: 't-1', contextId: 'c-1' };
  const task = { id: 't-1', contextId: 'c-1', status: { state: 'TASK_STATE_WORKING' } };
  const artifacts = [{ artifactId: 'a-1', parts: [{ text: 'x' }] }];
  const ended = { statusUpdate: { ...of, status: { state: 'TASK_STATE_COMPLETED' } } };
  const late = { artifactUpdate: { ...of, artifact: artifacts[0] } };

  it.each(['and ends', 'and goes silent', 'and breaks off'])('is part of the result: %s', async (how) => {
    const { url } = await serve(async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const result of [{ task }, ended, late]) {
        const text = `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result })}\n\n`;
        await new Promise((sent) => response.write(text, sent));
      }
      if (how === 'and ends') response.end();
      if (how === 'and breaks off') response.destroy();
    });
    const agent = await connect(bothBindings(url), { binding: 'JSONRPC', ...once });
    for (const stream of [agent.stream('hello'), agent.follow('t-1')])
      expect(await stream.result()).toEqual({ task: taskIn('COMPLETED', { artifacts }) });
  });
});

describe('null in a card is a member left out [R-JSON-12]', () => {
  it('while `verifyCard` gets the card unchanged', async () => {
    const written = {
      ...cardOf([{ url: 'http://127.0.0.1:1', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]),
      skills: null,
      provider: null,
    };
    const url = await answering(JSON.stringify(written));
    let verified: unknown;
    const agent = await connect(url, {
      verifyCard: (card) => {
        verified = card;
      },
    });
    expect(verified).toEqual(written);
    expect('provider' in agent.card).toBe(false);
  });
});

describe('a JSON-RPC reply without `result` [R-RPC-03]', () => {
  it.each(['{"jsonrpc":"2.0","id":1}', '{"jsonrpc":"2.0","id":1,"error":null}'])(
    'is an empty result where one may be empty: %s',
    async (body) => {
      const agent = await connect(bothBindings(await answering(body)), { binding: 'JSONRPC', ...once });
      expect(await agent.deleteTaskPushNotificationConfig({ taskId: 't-1', id: 'p-1' })).toEqual({});
      expect(await agent.listTasks()).toEqual({ tasks: [], nextPageToken: '' });
      expect(await agent.listTaskPushNotificationConfigs({ taskId: 't-1' })).toEqual({ configs: [] });
    },
  );

  it.each(['{"id":1}', '{}', '"deleted"'])('that is no reply at all is refused: %s', async (body) => {
    const agent = await connect(bothBindings(await answering(body)), { binding: 'JSONRPC', ...once });
    const deleting = agent.deleteTaskPushNotificationConfig({ taskId: 't-1', id: 'p-1' });
    expect((await failureOf(deleting)).reason).toBe('INVALID_AGENT_RESPONSE');
  });
});

describe('POST :subscribe that is answered with 404 or 405 [R-REST-03]', () => {
  const serveMethods = async (post: [number, string], get: [number, string]) => {
    const methods: unknown[] = [];
    const { url } = await serve((request, response) => {
      methods.push(request.method);
      const [status, body] = request.method === 'POST' ? post : get;
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
    const agent = await connect(bothBindings(url), { binding: 'HTTP+JSON', ...once });
    return { methods, error: await failureOf(collect(agent.subscribeToTask({ id: 't-1' }))) };
  };
  const info = (reason: string) =>
    `{"error":{"code":404,"status":"NOT_FOUND","message":"Gone","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"${reason}","domain":"a2a-protocol.org"}]}}`;

  it.each([info('TASK_NOT_FOUND'), '{"code":-32001,"message":"Gone"}'])(
    'is not tried as GET if it names the task: %s',
    async (body) => {
      const { methods, error } = await serveMethods([404, body], [405, '']);
      expect(methods).toEqual(['POST']);
      expect(error).toMatchObject({ reason: 'TASK_NOT_FOUND', message: 'Gone' });
    },
  );

  it('is reported itself if GET does not exist either', async () => {
    const { methods, error } = await serveMethods(
      [404, '{"error":{"code":404,"message":"No such task"}}'],
      [405, ''],
    );
    expect(methods).toEqual(['POST', 'GET']);
    expect(error).toMatchObject({ reason: 'METHOD_NOT_FOUND', message: 'No such task' });
  });

  it('is tried as GET if it only says that there is no such path', async () => {
    const { methods, error } = await serveMethods(
      [404, info('METHOD_NOT_FOUND')],
      [404, info('TASK_NOT_FOUND')],
    );
    expect(methods).toEqual(['POST', 'GET']);
    expect(error.reason).toBe('METHOD_NOT_FOUND');
  });

  it('reports what GET is refused with for another reason', async () => {
    const { error } = await serveMethods([405, ''], [400, info('UNSUPPORTED_OPERATION')]);
    expect(error.reason).toBe('UNSUPPORTED_OPERATION');
  });
});

describe('an HTTP+JSON server that takes application/json only, as that of the Java SDK [R-REST-01]', () => {
  const serveStrict = async (accepted: string, card = bothBindings) => {
    const types: unknown[] = [];
    const { url } = await serve((request, response) => {
      types.push(request.headers['content-type']);
      if (request.method === 'POST' && request.headers['content-type'] !== accepted)
        return response.writeHead(415).end();
      return response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ task: taskIn('COMPLETED') }));
    });
    return { types, agent: await connect(card(url), { binding: 'HTTP+JSON', ...once }) };
  };

  it('is asked again in it once, and from then on at once', async () => {
    const { types, agent } = await serveStrict('application/json');
    expect((await agent.send('hello')).task?.id).toBe('t-1');
    await agent.send('hello');
    await collect(agent.sendStreamingMessage({ message: { messageId: 'm', role: 'ROLE_USER', parts: [] } }));
    expect(types).toEqual(['application/a2a+json', ...Array(3).fill('application/json')]);
  });

  it('is not remembered if it takes neither', async () => {
    const { types, agent } = await serveStrict('text/xml');
    for (let call = 0; call < 2; call += 1)
      expect((await failureOf(agent.send('hello'))).reason).toBe('UNSUPPORTED_MEDIA_TYPE');
    expect(types).toEqual(Array(2).fill(['application/a2a+json', 'application/json']).flat());
  });
});

describe.each(['JSONRPC', 'HTTP+JSON'])(
  'names of the proto in replies on %s are those of JSON',
  (binding) => {
    const part = { text: 'x', media_type: 'text/plain', metadata: { task_id: 'free' } };
    const message = { message_id: 'm', task_id: 't-1', context_id: 'c', role: 'ROLE_AGENT', parts: [part] };
    const task = {
      id: 't-1',
      context_id: 'c',
      status: { state: 'TASK_STATE_COMPLETED', message: { ...message, reference_task_ids: ['t-0'] } },
      artifacts: [{ artifact_id: 'a', parts: [part, { data: { artifact_id: 'free' } }] }],
    };
    const read = {
      id: 't-1',
      contextId: 'c',
      status: { message: { messageId: 'm', taskId: 't-1', referenceTaskIds: ['t-0'] } },
      artifacts: [
        {
          artifactId: 'a',
          parts: [
            { mediaType: 'text/plain', metadata: { task_id: 'free' } },
            { data: { artifact_id: 'free' } },
          ],
        },
      ],
    };
    const client = async (result: unknown) =>
      connect(bothBindings(await withResult(binding, JSON.stringify(result))), { binding, ...once });

    it('in a task, a message and a list, as fasta2a writes them', async () => {
      expect(await (await client(task)).getTask({ id: 't-1' })).toMatchObject(read);
      expect(await (await client({ task })).send('hello')).toMatchObject({ task: read });
      expect(await (await client({ message })).send('hello')).toMatchObject({ message: { messageId: 'm' } });
      const list = { tasks: [task], next_page_token: 'p', page_size: 1, total_size: 2 };
      const page = { tasks: [read], nextPageToken: 'p', pageSize: 1, totalSize: 2 };
      expect(await (await client(list)).listTasks()).toMatchObject(page);
    });

    it('in events', async () => {
      const events = [
        { task: { ...task, status: { state: 'TASK_STATE_WORKING' }, artifacts: undefined } },
        {
          artifact_update: { task_id: 't-1', context_id: 'c', artifact: task.artifacts[0], last_chunk: true },
        },
        { status_update: { task_id: 't-1', context_id: 'c', status: task.status } },
      ];
      const { url } = await serve((_, response) => {
        response.setHeader('content-type', 'text/event-stream');
        for (const event of events) {
          const body = binding === 'JSONRPC' ? { jsonrpc: '2.0', id: 1, result: event } : event;
          response.write(`data: ${JSON.stringify(body)}\n\n`);
        }
        response.end();
      });
      const agent = await connect(bothBindings(url), { binding, ...once });
      expect(await agent.stream('hello').result()).toMatchObject({ task: read });
    });
  },
);

it('errors of agents are recognised by the `A2AError` of this package', async () => {
  const url = await answering('{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Gone"}}');
  const agent = await connect(bothBindings(url), { binding: 'JSONRPC', ...once });
  expect(A2AError.is(await failureOf(agent.getTask({ id: 't-1' })))).toBe(true);
});
