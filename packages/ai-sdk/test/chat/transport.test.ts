import { connect } from '@batonjs/client';
import { append, artifact, completed } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import type { UIMessageChunk } from 'ai';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serve } from '../../../../test/kit/serve.ts';
import { eventually, until } from '../../../../test/kit/until.ts';
import { A2AChatTransport, type A2AChatTransportOptions } from '../../src/chat.ts';

/** An agent that writes the second half at the gate; its server may be closed, and opened again on the same tasks. */
async function talking(options?: A2AChatTransportOptions) {
  const gate = Promise.withResolvers<void>();
  onTestFinished(() => gate.resolve());
  const store = memoryStore();
  const open = () =>
    serve(
      async function* () {
        yield artifact('answer', 'Half ');
        await gate.promise;
        yield append('answer', '.');
        yield completed();
      },
      { store, restart: 'rerun', messages: { idempotency: true } },
    );
  const state = { server: open(), requests: [] as Request[] };
  const client = await connect('http://localhost', {
    retry: { firstMs: 1 },
    fetch: (request) => {
      state.requests.push(request);
      return state.server.fetch(request);
    },
  });
  const transport = new A2AChatTransport(client, options);
  const send = (abortSignal?: AbortSignal) =>
    transport.sendMessages({
      trigger: 'submit-message',
      chatId: 'chat-1',
      messageId: undefined,
      messages: [{ id: 'm-1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
      abortSignal,
    });
  return { gate, open, state, client, send };
}

/** Reads chunks until one passes, and resolves to all of them. */
async function readUntil(
  reader: ReadableStreamDefaultReader<UIMessageChunk>,
  passes: (chunk: UIMessageChunk) => boolean,
): Promise<UIMessageChunk[]> {
  const chunks: UIMessageChunk[] = [];
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    chunks.push(next.value);
    if (passes(next.value)) break;
  }
  return chunks;
}

const isText = ({ type }: UIMessageChunk) => type === 'text-delta';
const textOf = (chunks: readonly UIMessageChunk[]) =>
  chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.delta : '')).join('');

describe('the transport of a chat', () => {
  it.each(['stops to read', 'aborts its signal'])(
    'asks the agent for nothing more when the page %s, and the task goes on',
    async (how) => {
      const { gate, state, client, send } = await talking();
      const left = new AbortController();
      const reader = (await send(how === 'stops to read' ? undefined : left.signal)).getReader();
      await readUntil(reader, isText);
      const stream = state.requests.at(-1);
      expect(stream?.signal.aborted).toBe(false);
      if (how === 'stops to read') await reader.cancel();
      else left.abort();
      await eventually(() => expect(stream?.signal.aborted).toBe(true));
      const { length } = state.requests;
      const [task] = (await client.listTasks({ contextId: 'chat-1' })).tasks;
      gate.resolve();
      await until(state.server, task!.id, 'COMPLETED');
      expect(state.requests).toHaveLength(length + 1);
    },
  );

  it('goes on through a restart of the server in the middle of an answer', async () => {
    const { gate, open, state, send } = await talking();
    const reader = (await send()).getReader();
    const before = await readUntil(reader, isText);
    const closed = state.server.close({ graceMs: 0 });
    state.server = open();
    await closed;
    gate.resolve();
    const after = await readUntil(reader, () => false);
    expect(textOf([...before, ...after])).toBe('Half .');
    expect(after.at(-1)).toEqual({ type: 'finish', finishReason: 'stop' });
  });

  it('fails when the agent is away for longer than `followForMs`, also with a signal', async () => {
    const { state, send } = await talking({ followForMs: 0 });
    const reader = (await send(new AbortController().signal)).getReader();
    await readUntil(reader, isText);
    await state.server.close({ graceMs: 0 });
    await expect(readUntil(reader, () => false)).rejects.toThrow();
  });

  it('waits for an agent that is away until its signal is aborted', async () => {
    const { state, send } = await talking();
    const left = new AbortController();
    const reader = (await send(left.signal)).getReader();
    await readUntil(reader, isText);
    const { length } = state.requests;
    await state.server.close({ graceMs: 0 });
    const read = readUntil(reader, () => false);
    // Several attempts have failed.
    await eventually(() => expect(state.requests.length).toBeGreaterThan(length + 2));
    left.abort(new Error('The page has left'));
    await expect(read).rejects.toThrow();
  });
});
