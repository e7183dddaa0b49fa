import { createServer } from 'node:http';
import type { Message } from '@ag-ui/client';
import { streamedAgent } from '@batonjs/ai-sdk';
import { connect } from '@batonjs/client';
import { inputRequired as ask, extend, formInput } from '@batonjs/extensions';
import { FORM_INPUT } from '@batonjs/extensions/client';
import {
  type AgentServer,
  append,
  artifact,
  authRequired,
  completed,
  data,
  failed,
  inputRequired,
  working,
} from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { jsonSchema, streamText, tool } from 'ai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { listen } from '../../../test/kit/listen.ts';
import { serve } from '../../../test/kit/serve.ts';
import { untilAborted } from '../../../test/kit/until-aborted.ts';
import { call, scriptedModel, text } from '../../ai-sdk/test/scripted-model.ts';
import { agUiHandler } from '../src/ag-ui-handler.ts';
import { frontEndOf } from '../src/index.ts';
import { type FrontEnd, linesOf, versions } from './clients.ts';

const talking = (gate: Promise<unknown> = Promise.resolve()): AgentServer =>
  serve(
    async function* ({ text, signal, messages }) {
      yield working('Thinking');
      if (text === 'hold') return void (await untilAborted(signal));
      if (text === 'fail')
        return yield failed({ code: 'NO_LUCK', message: 'No luck today', retryable: false });
      if (text === 'crash') throw new Error('secret of the agent');
      if (text === 'login') return yield authRequired('Log in at https://login.example');
      if (messages.length === 1 && text === 'ask') {
        yield artifact('answer', 'First. ');
        return yield inputRequired('Which one?');
      }
      if (text === 'show') {
        yield artifact({ artifactId: 'a/b~c', name: 'Table' }, data({ rows: 1 }));
        yield artifact('result', data({ sum: 3 }));
        return yield completed('There');
      }
      yield messages.length > 1 ? append('answer', `Then ${text}`) : artifact('answer', 'Half ');
      await gate;
      yield append('answer', '.');
      yield completed();
    },
    { messages: { idempotency: true }, restart: 'rerun' },
  );

const urlOf = (agent: Parameters<typeof agUiHandler>[0]): Promise<string> =>
  listen(createServer(nodeHandler(agUiHandler(agent))));

describe.each(versions)('a front end on AG-UI %s', (version, open) => {
  it('streams text, and shows what the agent does as steps and as an activity', async () => {
    const gate = Promise.withResolvers<void>();
    const front = open(await urlOf(talking(gate.promise)));
    front.say('Hello');
    const run = front.run();
    await front.until(({ type, delta }) => type === 'TEXT_MESSAGE_CONTENT' && delta === 'Half ');
    gate.resolve();
    await run;
    expect(linesOf(front)).toEqual(['user: Hello', 'assistant: Half .']);
    const types = front.events.map(({ type }) => type);
    expect(types[0]).toBe('RUN_STARTED');
    expect(types.filter((type) => type.startsWith('STEP'))).toEqual(['STEP_STARTED', 'STEP_FINISHED']);
    expect(front.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    const activity = front.messages.find(({ role }) => role === 'activity');
    expect(activity).toMatchObject({
      activityType: 'baton-task',
      content: { state: 'TASK_STATE_COMPLETED' },
    });
  });

  it('has data of artifacts in its state, beside its own, and in the result', async () => {
    const front = open(await urlOf(talking()));
    Object.assign(front.state, { mine: 1 });
    front.say('show');
    expect(await front.run()).toMatchObject({ result: { sum: 3 } });
    expect(front.state).toMatchObject({
      mine: 1,
      artifacts: { 'a/b~c': { name: 'Table', parts: [{ data: { rows: 1 } }] }, result: {} },
    });
    expect(linesOf(front)).toEqual(['user: show', 'assistant: There']);
  });

  it('answers a plain question by the next message, also after a reload, or by `resume`, each once', async () => {
    const server = talking();
    const url = await urlOf(server);
    const client = await connect('http://localhost', { fetch: server.fetch });
    const answers = {
      message: (front: FrontEnd) => front.add({ id: 'message', role: 'user', content: 'this' }),
      reload: (front: FrontEnd) => front.add({ id: 'reload', role: 'user', content: 'this' }),
      resume: () => {},
    };
    for (const [threadId, answer] of Object.entries(answers)) {
      let front = open(url, threadId);
      front.say('ask');
      await front.run();
      expect(front.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
      const question = front.messages.findLast(({ role }) => role === 'assistant')!;
      if (threadId === 'reload') {
        front = open(url, threadId);
        await front.run();
      }
      answer(front);
      const resume = [{ interruptId: question.id, status: 'resolved', payload: 'this' }];
      const more = threadId === 'resume' ? { resume } : {};
      await front.run(more);
      const lines = ['user: ask', 'assistant: First. ', 'assistant: Which one?'];
      const said = threadId === 'resume' ? [] : ['user: this'];
      expect(linesOf(front)).toEqual([...lines, ...said, 'assistant: Then this.']);
      // The same answer again joins the task, and another one finds nothing that waits.
      const twice = [open(url, threadId), open(url, threadId)];
      if (threadId !== 'resume') for (const page of twice) answer(page);
      await Promise.all(twice.map((page) => page.run(more)));
      for (const page of twice)
        expect(page.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
      const [task] = (await client.listTasks({ contextId: threadId })).tasks;
      const { history = [] } = await client.getTask({ id: task!.id });
      expect(history.filter(({ role }) => role === 'ROLE_USER')).toHaveLength(2);
      const other = open(url, threadId);
      await other.run({ resume: [{ ...resume[0], payload: 'that' }] });
      expect(other.events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'NO_INTERRUPT' });
      // A page that is loaded again is asked nothing that was answered.
      const loaded = open(url, threadId);
      await loaded.run();
      expect(linesOf(loaded)).toEqual([
        ...lines.slice(0, 1),
        'assistant: First. ',
        'assistant: Which one?',
        'user: this',
        'assistant: First. Then this.',
      ]);
      expect(loaded.events.at(-1)).toMatchObject({ outcome: { type: 'success' } });
    }
  });

  const ends = ['', ' though it ends meanwhile'];
  it.each(ends)('sends an edited message again, and cancels what it leaves%s', async (ending) => {
    const server = talking();
    const client = await connect('http://localhost', { fetch: server.fetch });
    const fetch = async (request: Request) => {
      const { method, params } = JSON.parse((await request.clone().text()) || '{}');
      if (ending && method === 'CancelTask') await client.send('this', { task: params.id });
      return server.fetch(request);
    };
    const url = await urlOf(await connect('http://localhost', { fetch }));
    const front = open(url);
    const ask = (id: string, content: string) => {
      const page = open(url);
      page.add({ id, role: 'user', content });
      return page.run().then(() => page);
    };
    for (const [content, last] of [
      ['Hello', 'assistant: Half .'],
      ['ask', 'assistant: Which one?'],
      ['Howdy', 'assistant: Half .'],
      ['Howdy', 'assistant: Half .'],
    ] as const)
      expect(linesOf(await ask('m', content)).at(-1)).toBe(last);
    await front.run();
    expect(linesOf(front)).toEqual(['user: Howdy', 'assistant: Half .']);
    expect(front.messages[0]!.id).toBe('m');
    const { tasks } = await client.listTasks({ contextId: 'thread-1' });
    expect(tasks.map(({ status }) => status.state).sort()).toEqual([
      ending ? 'TASK_STATE_COMPLETED' : 'TASK_STATE_CANCELED',
      'TASK_STATE_COMPLETED',
      'TASK_STATE_COMPLETED',
    ]);
    // One of long ago, too.
    for (let n = 0; n < 21; n += 1) await client.send(`${n}`, { contextId: 'thread-1' });
    await ask('m', 'Good day');
    const again = open(url);
    await again.run();
    expect(linesOf(again)).toEqual(['user: Good day', 'assistant: Half .']);
  });

  it('shows a page that is loaded again what the user sent, so that it joins the task with it', async () => {
    const card = { name: 'Eyes', description: 'Looks', defaultInputModes: ['*/*'] };
    const server = serve(
      async function* () {
        yield completed('Seen');
      },
      { card },
    );
    const url = await urlOf(server);
    const content = [
      { type: 'text', text: 'Hello' },
      { type: 'image', source: { type: 'data', value: 'AQ==', mimeType: 'image/png' } },
      { type: 'document', source: { type: 'url', value: 'https://a.example', mimeType: 'text/html' } },
    ];
    const front = open(url);
    front.add({ id: 'm', role: 'user', content } as Message);
    await front.run();
    const loaded = open(url);
    await loaded.run();
    const [message] = loaded.messages;
    expect(message).toEqual({ id: 'm', role: 'user', content });
    const again = open(url);
    again.add(message!);
    await again.run();
    const client = await connect('http://localhost', { fetch: server.fetch });
    expect((await client.listTasks({ contextId: 'thread-1' })).tasks).toHaveLength(1);
  });

  it('refuses a new message while an approval is open, and answers that do not fit', async () => {
    const question = { toolCallId: 'c', toolName: 'pay', input: {}, needs: 'approval' };
    const asking = serve(async function* () {
      yield inputRequired(data({ toolCalls: [question] }));
    });
    const url = await urlOf(asking);
    const front = open(url);
    front.say('ask');
    await front.run();
    const fresh = open(url);
    fresh.say('Something else');
    await fresh.run();
    expect(fresh.events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'INTERRUPT_OPEN' });
    const resume = [{ interruptId: 'unknown', status: 'resolved', payload: 'x' }];
    const other = open(url);
    await other.run({ resume });
    expect(other.events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'INVALID_RESUME' });
    const another = open(url, 'thread-2');
    await another.run({ resume });
    expect(another.events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'NO_INTERRUPT' });
    // A page that was loaded again is shown what was said, and asked again.
    const loaded = open(url);
    await loaded.run();
    expect(linesOf(loaded)).toContain('user: ask');
    expect(loaded.events.at(-1)).toMatchObject({ outcome: { type: 'interrupt' } });
  });

  it('abandons a question by `cancelled`, which cancels the task', async () => {
    const server = talking();
    const front = open(await urlOf(server));
    front.say('ask');
    await front.run();
    const { id: interruptId } = front.messages.at(-1)!;
    await front.run({ resume: [{ interruptId, status: 'cancelled' }] });
    const expected =
      version === '1.0.0' ? { outcome: { type: 'cancelled' } } : { type: 'RUN_ERROR', code: 'CANCELED' };
    expect(front.events.at(-1)).toMatchObject(expected);
  });

  it('gets the schema of a form, and what authorizes the agent', async () => {
    const form = z.object({ amount: z.number() });
    const extended = serve(() => ({}) as never, {
      ...extend(
        {
          card: { name: 'Payer', description: 'Pays' },
          agent: async function* ({ values }) {
            if (!('amount' in values)) return yield ask('How much?', { form });
            yield completed(`Paid ${values.amount}`);
          },
        },
        formInput,
      ),
    });
    const client = await connect('http://localhost', { fetch: extended.fetch, extensions: [FORM_INPUT] });
    const front = open(await listen(createServer(nodeHandler(agUiHandler(client)))));
    front.say('Pay');
    await front.run();
    const { outcome } = front.events.at(-1) as never as { outcome: { interrupts: { id: string }[] } };
    expect(outcome.interrupts).toMatchObject([{ responseSchema: { properties: { amount: {} } } }]);
    await front.run({
      resume: [{ interruptId: outcome.interrupts[0]!.id, status: 'resolved', payload: { amount: 5 } }],
    });
    expect(linesOf(front).at(-1)).toBe('assistant: Paid 5');
    const login = open(await urlOf(talking()));
    login.say('login');
    await login.run();
    expect(login.events.at(-1)).toMatchObject({
      outcome: { interrupts: [{ reason: 'baton:auth_required' }] },
    });
  });

  it('fails with the words of the agent, and never with those of its errors', async () => {
    const front = open(await urlOf(talking()));
    front.say('fail');
    await front.run();
    expect(front.events.at(-1)).toMatchObject({
      type: 'RUN_ERROR',
      code: 'NO_LUCK',
      message: 'No luck today',
    });
    front.say('crash');
    await front.run();
    expect(front.events.at(-1)).toMatchObject({ type: 'RUN_ERROR' });
    expect(JSON.stringify(front.events)).not.toContain('secret');
  });

  it('follows a task after it had left, from the beginning of the answer, and joins a message sent again', async () => {
    const gate = Promise.withResolvers<void>();
    const server = talking(gate.promise);
    const url = await urlOf(server);
    const front = open(url);
    front.say('Hello');
    const run = front.run().catch(() => {});
    await front.until(({ delta }) => delta === 'Half ');
    front.abort();
    await run;
    const again = front.run();
    await front.until(({ type }) => type === 'MESSAGES_SNAPSHOT');
    gate.resolve();
    await again;
    expect(linesOf(front)).toEqual(['user: Hello', 'assistant: Half .']);
    const client = await connect('http://localhost', { fetch: server.fetch });
    expect((await client.listTasks({ contextId: 'thread-1' })).tasks).toHaveLength(1);
  });

  it('is told when the task was canceled elsewhere', async () => {
    const server = talking();
    const url = await urlOf(server);
    const front = open(url, 'thread/3');
    front.say('hold');
    const run = front.run();
    await front.until(({ type, stepName }) => type === 'STEP_STARTED' && stepName === 'Thinking');
    const canceled = await fetch(`${url}/thread%2F3`, { method: 'DELETE' });
    expect(canceled.status).toBe(202);
    await run;
    const expected =
      version === '1.0.0' ? { outcome: { type: 'cancelled' } } : { type: 'RUN_ERROR', code: 'CANCELED' };
    expect(front.events.at(-1)).toMatchObject(expected);
    expect((await fetch(`${url}/thread%2F3`, { method: 'DELETE' })).status).toBe(204);
  });

  it('runs its own tools, approves those of the agent, and reads reasoning', async () => {
    const model = scriptedModel(
      [...text('I look. '), call('call-1', 'where')],
      [call('call-2', 'visit')],
      text('Done'),
    );
    const visits: unknown[] = [];
    const visit = tool({ inputSchema: z.object({}), execute: async () => visits.push('visit') });
    const agent = streamedAgent(
      ({ messages, signal, tools, turn, ...own }) => {
        const front = Object.fromEntries(
          (frontEndOf(turn.message)?.tools ?? []).map(({ name, parameters = {} }) => [
            name,
            tool({ inputSchema: jsonSchema(parameters), outputSchema: z.unknown() }),
          ]),
        );
        return streamText({
          model: own.model(model),
          messages,
          abortSignal: signal,
          tools: tools({ visit, ...front }),
          toolApproval: { visit: 'user-approval' },
          stopWhen: ({ steps }) => steps.length === 3,
        });
      },
      { shownTools: 'data' },
    );
    const front = open(await urlOf(serve(agent)));
    const tools = [{ name: 'where', description: 'Where the user is', parameters: { type: 'object' } }];
    front.say('Go');
    await front.run({ tools });
    const finished =
      version === '1.0.0' ? { type: 'success', pendingToolCallIds: ['call-1'] } : { type: 'success' };
    expect(front.events.at(-1)).toMatchObject({ outcome: finished });
    expect(front.messages.at(-1)).toMatchObject({
      toolCalls: [{ id: 'call-1', function: { name: 'where' } }],
    });
    front.add({ id: 'result-1', role: 'tool', toolCallId: 'call-1', content: '"Oulu"' });
    await front.run({ tools });
    const { outcome } = front.events.at(-1) as never as { outcome: { interrupts: { id: string }[] } };
    expect(outcome).toMatchObject({ interrupts: [{ reason: 'tool_call', toolCallId: 'call-2' }] });
    await front.run({
      tools,
      resume: [{ interruptId: outcome.interrupts[0]!.id, status: 'resolved', payload: { approved: true } }],
    });
    expect(visits).toEqual(['visit']);
    expect(linesOf(front).at(-1)).toContain('Done');
    const results = front.messages.filter(({ role }) => role === 'tool');
    expect(results).toMatchObject([{ toolCallId: 'call-1' }, { toolCallId: 'call-2' }]);
    const starts = front.events.filter(({ type }) => type === 'TOOL_CALL_START');
    expect(starts.map(({ toolCallId }) => toolCallId)).toEqual(['call-1', 'call-2']);
  });
});
