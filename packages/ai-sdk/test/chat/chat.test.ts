import type { AgentServer } from '@batonjs/server';
import { append, artifact, completed, data, failed, file, inputRequired, working } from '@batonjs/server';
import {
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  readUIMessageStream,
  tool,
  type UIMessage,
  type UIMessageChunk,
} from 'ai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { serve } from '../../../../test/kit/serve.ts';
import { until } from '../../../../test/kit/until.ts';
import { untilAborted } from '../../../../test/kit/until-aborted.ts';
import { chatMessages } from '../../src/chat.ts';
import { connected } from '../../src/tools/a2a-tools.ts';
import { call, reasoning, scriptedModel, text } from '../scripted-model.ts';
import { agentOn, start } from '../served-agent.ts';
import { TestChat, ways } from './test-chat.ts';

/** Writes the second half at the gate, and fails, asks or shows content by its text. */
function talking(gate: Promise<unknown> = Promise.resolve()): AgentServer {
  return serve(
    async function* ({ text, signal, messages }) {
      yield working('Thinking');
      if (text === 'hold') return void (await untilAborted(signal));
      if (text === 'fail')
        return yield failed({ code: 'NO_LUCK', message: 'No luck today', retryable: false });
      if (text === 'crash') throw new Error('secret of the agent');
      if (messages.length === 1 && text === 'ask') {
        yield artifact('answer', 'First. ');
        return yield inputRequired('Which one?');
      }
      if (text === 'again') return yield inputRequired('Which one of them?');
      if (text === 'show') {
        yield artifact('picture', file(new Uint8Array([1]), { mediaType: 'image/png' }));
        yield artifact({ artifactId: 'table', name: 'Table' }, data({ rows: 1 }));
        return yield completed('There');
      }
      yield messages.length > 1 ? append('answer', `Then ${text}`) : artifact('answer', 'Half ');
      await gate;
      yield append('answer', '.');
      yield completed();
    },
    { messages: { idempotency: true }, restart: 'rerun' },
  );
}

/** Answers with what it was asked. */
const echoing = (idempotency = true) =>
  serve(
    async function* ({ text }) {
      yield artifact('answer', `[${text}]`);
      yield completed();
    },
    { messages: { idempotency } },
  );

const textsOf = ({ parts }: Pick<UIMessage, 'parts'>) =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('');

/** The message that a stream makes. */
async function readUI(stream: ReadableStream<UIMessageChunk>): Promise<UIMessage | undefined> {
  let message: UIMessage | undefined;
  for await (const state of readUIMessageStream({ stream })) message = state;
  return message;
}

describe.each(ways)('a chat over %s', (_, transportFor) => {
  const chatWith = async (
    server: AgentServer,
    more: Partial<ConstructorParameters<typeof TestChat>[0]> = {},
  ) => {
    const client = await connected(server);
    const transport = transportFor(client, server);
    return { client, transport, chat: new TestChat({ id: 'chat-1', transport, ...more }) };
  };

  it('streams the text of an answer, and says how the task is', async () => {
    const gate = Promise.withResolvers<void>();
    const { chat } = await chatWith(talking(gate.promise));
    const sent = chat.sendMessage({ text: 'Hello' });
    await chat.until(() => chat.text === 'Half ');
    expect(chat.status).toBe('streaming');
    gate.resolve();
    await sent;
    expect(chat).toMatchObject({ status: 'ready', text: 'Half .' });
    const [task, ...others] = chat.lastMessage!.parts.filter(({ type }) => type === 'data-task');
    expect(task).toMatchObject({ data: { contextId: 'chat-1', state: 'TASK_STATE_COMPLETED' } });
    expect(others).toEqual([]);
    expect(chat.lastMessage!.id).toBe(`answer-${chat.messages[0]!.id}`);
  });

  it('shows files and data of artifacts, and the last words of the agent', async () => {
    const { chat } = await chatWith(talking());
    await chat.sendMessage({ text: 'show' });
    expect(chat.shown).toMatchObject([
      { type: 'file', url: 'data:image/png;base64,AQ==', mediaType: 'image/png' },
      { type: 'data-artifact', id: 'table', data: { name: 'Table', data: { rows: 1 } } },
      { type: 'text', text: 'There' },
    ]);
  });

  it('asks, takes the next message for the answer, and gives no text twice', async () => {
    const { chat, client } = await chatWith(talking());
    await chat.sendMessage({ text: 'ask' });
    expect(chat.text).toBe('First. Which one?');
    expect(chat.shown.at(-1)).toMatchObject({ type: 'data-question', data: { text: 'Which one?' } });
    await chat.sendMessage({ text: 'this' });
    expect(chat.text).toBe('Then this.');
    expect(chat.messages).toHaveLength(4);
    expect((await client.listTasks({ contextId: 'chat-1' })).tasks).toHaveLength(1);
    const texts = (await chatMessages(client, 'chat-1')).map((message) => [message.role, textsOf(message)]);
    expect(texts).toEqual([
      ['user', 'ask'],
      ['assistant', 'First. Which one?'],
      ['user', 'this'],
      ['assistant', 'Then this.'],
    ]);
  });

  it('fails with the words of the agent, and never with those of its errors', async () => {
    const { chat } = await chatWith(talking());
    await chat.sendMessage({ text: 'fail' });
    expect(chat).toMatchObject({ status: 'error', error: { message: 'No luck today' } });
    await chat.sendMessage({ text: 'crash' });
    expect(chat.status).toBe('error');
    expect(JSON.stringify([chat.messages, chat.error?.message])).not.toContain('secret');
  });

  it('goes on in another page from the beginning of the answer; the first page may leave', async () => {
    const gate = Promise.withResolvers<void>();
    const { chat, transport, client } = await chatWith(talking(gate.promise));
    const sent = chat.sendMessage({ text: 'Hello' });
    await chat.until(() => chat.text === 'Half ');
    await chat.stop();
    await sent;
    const messages = await chatMessages(client, 'chat-1');
    expect(messages).toMatchObject([{ role: 'user', id: chat.messages[0]!.id }]);
    const other = new TestChat({ id: 'chat-1', transport, messages });
    const resumed = other.resumeStream();
    await other.until(() => other.text === 'Half ');
    gate.resolve();
    await resumed;
    expect(other.text).toBe('Half .');
    expect(other.messages.map(({ id }) => id)).toEqual(chat.messages.map(({ id }) => id));
    // Nothing is active any more.
    await other.resumeStream();
    expect(other.messages).toHaveLength(2);
    const after = await chatMessages(client, 'chat-1');
    expect(after.map(({ id }) => id)).toEqual(other.messages.map(({ id }) => id));
  });

  it('stops to read a stream that it resumed, and the task goes on', async () => {
    const gate = Promise.withResolvers<void>();
    const { chat, transport, client } = await chatWith(talking(gate.promise));
    const sent = chat.sendMessage({ text: 'Hello' });
    await chat.until(() => chat.text === 'Half ');
    const other = new TestChat({ id: 'chat-1', transport, messages: chat.messages.slice(0, 1) });
    const resumed = other.resumeStream();
    await other.until(() => other.text === 'Half ');
    await other.stop();
    await resumed;
    expect(other).toMatchObject({ status: 'ready', text: 'Half ', error: undefined });
    gate.resolve();
    await sent;
    expect([chat.text, other.text]).toEqual(['Half .', 'Half ']);
    expect((await client.listTasks({ contextId: 'chat-1' })).tasks).toMatchObject([
      { status: { state: 'TASK_STATE_COMPLETED' } },
    ]);
  });

  it('joins the task of a message that is sent again', async () => {
    const gate = Promise.withResolvers<void>();
    const { chat, transport, client } = await chatWith(talking(gate.promise));
    const sent = chat.sendMessage({ text: 'Hello' });
    await chat.until(() => chat.text === 'Half ');
    const again = await transport.sendMessages({
      trigger: 'submit-message',
      chatId: 'chat-1',
      messageId: undefined,
      messages: [chat.messages[0]!],
      abortSignal: undefined,
    });
    gate.resolve();
    for await (const _ of again);
    await sent;
    expect((await client.listTasks({ contextId: 'chat-1' })).tasks).toHaveLength(1);
  });

  it('shows a task that another program began, and answers its question', async () => {
    const { chat, client } = await chatWith(talking());
    const { task } = await client.send('ask', { contextId: 'chat-1' });
    await chat.resumeStream();
    expect(chat.lastMessage).toMatchObject({ role: 'assistant', id: task!.id });
    expect(chat.text).toBe('First. Which one?');
    await chat.sendMessage({ text: 'this' });
    expect(chat.text).toBe('Then this.');
    const [message] = (await client.getTask({ id: task!.id })).history ?? [];
    expect((await chatMessages(client, 'chat-1')).map(({ id }) => id)).toEqual([
      message!.messageId,
      `answer-${message!.messageId}`,
      chat.messages.at(-2)!.id,
      chat.lastMessage!.id,
    ]);
  });

  it('goes on with what it was asked where the message of the assistant answers nothing', async () => {
    const { chat, transport, client } = await chatWith(talking());
    await chat.sendMessage({ text: 'ask' });
    const again = await transport.sendMessages({
      trigger: 'submit-message',
      chatId: 'chat-1',
      messageId: undefined,
      messages: chat.messages,
      abortSignal: undefined,
    });
    const chunks = [];
    for await (const chunk of again) chunks.push(chunk);
    expect(chunks[0]).toEqual({ type: 'start', messageId: chat.lastMessage!.id });
    expect(chunks).toContainEqual(expect.objectContaining({ type: 'data-question' }));
    const [task] = (await client.listTasks({ contextId: 'chat-1' })).tasks;
    const { history } = await client.getTask({ id: task!.id });
    expect(history?.filter(({ role }) => role === 'ROLE_USER')).toHaveLength(1);
  });

  it('sends an edited message, and one that is asked again, once more; a reload shows each once', async () => {
    const { chat, transport, client } = await chatWith(echoing());
    await chat.sendMessage({ text: 'Nolan?' });
    const { id } = chat.messages[0]!;
    const page = () => chat.messages.map((message) => [message.id, textsOf(message)]);
    const kept = async () =>
      (await chatMessages(client, 'chat-1')).map((message) => [message.id, textsOf(message)]);
    const send = async (text: string, trigger: 'submit-message' | 'regenerate-message') => {
      const messages: UIMessage[] = [{ id, role: 'user', parts: [{ type: 'text', text }] }];
      const options = { chatId: 'chat-1', messageId: undefined, messages, abortSignal: undefined };
      return textsOf((await readUI(await transport.sendMessages({ trigger, ...options })))!);
    };
    await chat.sendMessage({ text: 'Dolan?', messageId: id });
    expect(page().map(([, text]) => text)).toEqual(['Dolan?', '[Dolan?]']);
    expect(await kept()).toEqual(page());
    await chat.regenerate();
    await chat.sendMessage({ text: 'More?' });
    expect(await kept()).toEqual(page());
    // Sent again, each joins its task; the words of an earlier version are new ones by now.
    const count = async () => (await client.listTasks({ contextId: 'chat-1' })).tasks.length;
    expect(await count()).toBe(4);
    expect(await send('Dolan?', 'submit-message')).toBe('[Dolan?]');
    expect(await count()).toBe(4);
    expect(await send('Nolan?', 'submit-message')).toBe('[Nolan?]');
    expect(await count()).toBe(5);
    expect((await kept()).map(([, text]) => text)).toEqual(['Nolan?', '[Nolan?]']);
  });

  it.each([true, false])('edits a message of long ago, with idempotency: %s', async (idempotency) => {
    const { chat, client } = await chatWith(echoing(idempotency));
    await chat.sendMessage({ text: 'Nolan?' });
    for (let n = 0; n < 21; n += 1) await client.send(`${n}`, { contextId: 'chat-1' });
    await chat.sendMessage({ text: 'Dolan?', messageId: chat.messages[0]!.id });
    expect(chat.text).toBe('[Dolan?]');
    expect((await chatMessages(client, 'chat-1')).map(textsOf)).toEqual(['Dolan?', '[Dolan?]']);
  });

  it('cancels the open tasks that an edited message leaves, and answers the question of no other', async () => {
    const { chat, client } = await chatWith(talking());
    await chat.sendMessage({ text: 'Hello' });
    await chat.sendMessage({ text: 'ask' });
    await chat.sendMessage({ text: 'Howdy', messageId: chat.messages[0]!.id });
    expect(chat.text).toBe('Half .');
    const { tasks } = await client.listTasks({ contextId: 'chat-1' });
    expect(tasks.map(({ status }) => status.state).sort()).toEqual([
      'TASK_STATE_CANCELED',
      'TASK_STATE_COMPLETED',
      'TASK_STATE_COMPLETED',
    ]);
    // An answer that is edited answers the same task while it waits.
    await chat.sendMessage({ text: 'ask' });
    await chat.sendMessage({ text: 'again' });
    await chat.sendMessage({ text: 'this', messageId: chat.messages.at(-2)!.id });
    expect(chat.text).toBe('Then this.');
    expect((await chatMessages(client, 'chat-1')).map(textsOf)).toEqual(chat.messages.map(textsOf));
    expect((await client.listTasks({ contextId: 'chat-1' })).tasks).toHaveLength(4);
  });

  it('ends when its task is canceled elsewhere', async () => {
    const server = talking();
    const { chat, client } = await chatWith(server);
    const sent = chat.sendMessage({ text: 'hold' });
    await chat.until(() => chat.lastMessage?.role === 'assistant');
    await chat.until(() => JSON.stringify(chat.lastMessage).includes('Thinking'));
    const { tasks } = await client.listTasks({ contextId: 'chat-1' });
    await client.cancelTask({ id: tasks[0]!.id });
    await sent;
    await until(server, tasks[0]!.id, 'CANCELED');
    expect(chat.status).toBe('ready');
  });

  /** A chat whose agent asks whether a tool may run. */
  async function asked() {
    const { server, visits } = await start(
      (_, number) =>
        number === 1
          ? { text: ['I go. '], calls: [{ id: 'call-1', name: 'visit', input: { place: 'Oulu' } }] }
          : { text: ['Was there'] },
      { shownTools: 'data' },
      (agent) => ({ agent, messages: { idempotency: true } }),
    );
    const chatting = await chatWith(server, {
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    });
    await chatting.chat.sendMessage({ text: 'Go' });
    return { ...chatting, visits };
  }

  it('asks whether a tool may run, and goes on in the same message', async () => {
    const { chat, client, visits } = await asked();
    expect(chat.shown).toMatchObject([
      { type: 'text', text: 'I go. ' },
      { type: 'dynamic-tool', toolName: 'visit', state: 'approval-requested', input: { place: 'Oulu' } },
    ]);
    await chat.addToolApprovalResponse({ id: 'call-1', approved: true });
    await chat.until(() => chat.text.includes('Was there') && chat.status === 'ready');
    expect(visits).toEqual(['Oulu']);
    expect(chat.messages).toHaveLength(2);
    expect(chat.shown).toMatchObject([
      { type: 'text', text: 'I go. ' },
      { type: 'dynamic-tool', state: 'output-available', output: 'At Oulu' },
      { type: 'text', text: '\n\nWas there' },
    ]);
    const [, answer] = await chatMessages(client, 'chat-1');
    expect(answer!.parts.filter(({ type }) => type === 'text')).toMatchObject([
      { text: 'I go. \n\nWas there' },
    ]);
    expect(answer!.id).toBe(chat.lastMessage!.id);
  });

  it.each(['a button', 'words'])('asks nothing again after a reload that was answered by %s', async (how) => {
    const { chat, client, visits } = await asked();
    if (how === 'words') await chat.sendMessage({ text: 'yes' });
    else await chat.addToolApprovalResponse({ id: 'call-1', approved: true });
    await chat.until(() => chat.text.includes('Was there') && chat.status === 'ready');
    expect(visits).toEqual(['Oulu']);
    const kept = await chatMessages(client, 'chat-1');
    const states = kept.flatMap(({ parts }) => parts.flatMap((part) => ('state' in part ? part.state : [])));
    expect(states).toContain('output-available');
    expect(states).not.toContain('approval-requested');
    expect(kept.flatMap(({ parts }) => parts.filter(({ type }) => type === 'data-question'))).toEqual([]);
  });

  it('runs the tools of the page, and shows reasoning', async () => {
    const model = scriptedModel([...reasoning('Hm'), call('call-2', 'where')], text('You are in Oulu'));
    const where = tool({ inputSchema: z.object({}), outputSchema: z.string() });
    const server = serve(agentOn(model, { where }, { shownTools: 'data', showReasoning: true }));
    const { chat } = await chatWith(server, {
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
      onToolCall: ({ toolCall }) =>
        void chat.addToolOutput({
          tool: toolCall.toolName as never,
          toolCallId: toolCall.toolCallId,
          output: 'Oulu' as never,
        }),
    });
    await chat.sendMessage({ text: 'Where am I?' });
    await chat.until(() => chat.text === 'You are in Oulu' && chat.status === 'ready');
    expect(chat.shown).toMatchObject([
      { type: 'reasoning', text: 'Hm' },
      { type: 'dynamic-tool', toolName: 'where', output: 'Oulu' },
      { type: 'text' },
    ]);
  });
});
