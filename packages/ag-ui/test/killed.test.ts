import { join } from 'node:path';
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { expect, it, onTestFinished } from 'vitest';
import { type Command, freePort, node, run } from '../../../test/kit/processes.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { builtProgram } from '../../../test/support/built-program.ts';
import { linesOf, versions } from './clients.ts';

const textIn = ({ parts }: UIMessage): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('');

/** Reads a message until its stream ends or breaks off. */
async function read(stream: ReadableStream<UIMessageChunk>, until: (text: string) => unknown = () => {}) {
  let last = '';
  try {
    for await (const message of readUIMessageStream({ stream, onError: () => {} })) {
      last = textIn(message);
      until(last);
    }
  } catch {
    // The process was killed.
  }
  return last;
}

/** A run whose connection the test breaks: `shown` when half the answer is there, `ended` when the connection is gone. */
function startRun(url: string, threadId: string) {
  const shown = Promise.withResolvers<void>();
  const messages = [{ id: `count-${threadId}`, role: 'user', content: 'Count' }];
  const ended = (async () => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({
        ...{ threadId, runId: `run-${threadId}`, messages },
        ...{ tools: [], context: [], state: {}, forwardedProps: {} },
      }),
    });
    let said = '';
    try {
      for await (const bytes of response.body ?? []) {
        said += Buffer.from(bytes).toString();
        if (said.includes('two, ')) shown.resolve();
      }
    } catch {
      // The process was killed.
    }
  })();
  return { shown: shown.promise, ended };
}

it('an answer over AG-UI and one of `useChat` survive SIGKILL, and are shown once', {
  timeout: 120_000,
}, async () => {
  const PORT = String(await freePort());
  const env = { PORT, DATABASE: join(temporaryFolder(), 'tasks.db') };
  const program = await builtProgram(new URL('./handlers-process.ts', import.meta.url));
  let command: Command | undefined;
  onTestFinished(async () => command?.[Symbol.asyncDispose]());
  const start = async (HANGS = '') => {
    command = run(node, [program], { env: { ...env, HANGS } });
    await command.until(/The handlers listen/);
  };
  await start('yes');

  const url = `http://127.0.0.1:${PORT}`;
  const threads = versions.map(([version]) => `thread-${version}`);
  const halves = threads.map((threadId) => startRun(`${url}/ag-ui`, threadId));
  const chat = new DefaultChatTransport({ api: `${url}/chat` });
  const halfShown = Promise.withResolvers<void>();
  const reading = read(
    await chat.sendMessages({
      ...{ trigger: 'submit-message', chatId: 'chat-1', messageId: undefined, abortSignal: undefined },
      messages: [{ id: 'm-1', role: 'user', parts: [{ type: 'text', text: 'Count' }] }],
    }),
    (text) => text === 'One, two, ' && halfShown.resolve(),
  );
  await Promise.all([halfShown.promise, ...halves.map(({ shown }) => shown)]);
  command!.signal('SIGKILL');
  expect(await command!.ended).toBe('SIGKILL');
  expect(await reading).toBe('One, two, ');
  await Promise.all(halves.map(({ ended }) => ended));

  await start();
  // A page that was loaded again runs the thread without a message: it gets what was said, and the rest as it comes.
  for (const [n, [, open]] of versions.entries()) {
    const front = open(`${url}/ag-ui`, threads[n]);
    await front.run();
    expect(linesOf(front)).toEqual(['user: Count', 'assistant: One, two, three']);
  }
  const resumed = await chat.reconnectToStream({ chatId: 'chat-1' });
  // The answer may have been complete before the page came back: then its messages have it.
  if (resumed) expect(await read(resumed)).toBe('One, two, three');
  const response = await fetch(`${url}/chat/chat-1/messages`);
  const body = (await response.json()) as UIMessage[] | { messages: UIMessage[] };
  const messages = Array.isArray(body) ? body : body.messages;
  expect(messages.map(textIn)).toEqual(['Count', 'One, two, three']);
});
