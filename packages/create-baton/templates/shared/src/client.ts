import { stdin, stdout } from 'node:process';
import { createInterface } from 'node:readline/promises';
import { answer, connect, textOf } from '@batonjs/client';

// What went wrong fits a sentence: a stack says nothing about the agent.
process.once('uncaughtException', ({ message }) => {
  console.error(message);
  process.exit(1);
});

const agent = await connect(process.env.AGENT_URL ?? 'http://127.0.0.1:4000');
let stream = agent.stream(process.argv.slice(2).join(' ') || 'Hello');
for (;;) {
  let end = '';
  for await (const { statusUpdate, artifactUpdate } of stream) {
    const said = textOf(statusUpdate?.status.message ?? artifactUpdate?.artifact);
    if (!said) continue;
    // A text that streams grows in its line.
    stdout.write(artifactUpdate?.append ? said : `${end}${said}`);
    end = '\n';
  }
  stdout.write(end);
  const { task } = stream;
  if (task?.status.state !== 'TASK_STATE_INPUT_REQUIRED') break;
  stdout.write('> ');
  const terminal = createInterface({ input: stdin });
  const { value: line } = await terminal[Symbol.asyncIterator]().next();
  terminal.close();
  // The input is at its end: the task waits for its answer.
  if (line === undefined) break;
  stream = agent.stream(answer(task, line));
}
