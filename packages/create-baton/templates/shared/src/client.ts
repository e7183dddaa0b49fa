import { stdin, stdout } from 'node:process';
import { createInterface } from 'node:readline/promises';
import { answer, connect, textOf } from '@batonjs/client';

const agent = await connect(process.env.AGENT_URL ?? 'http://127.0.0.1:4000');
let stream = agent.stream(process.argv.slice(2).join(' ') || 'Hello');
for (;;) {
  for await (const { statusUpdate, artifactUpdate } of stream) {
    const said = textOf(statusUpdate?.status.message ?? artifactUpdate?.artifact);
    if (said) stdout.write(`${said}\n`);
  }
  const { task } = stream;
  if (task?.status.state !== 'TASK_STATE_INPUT_REQUIRED') break;
  const terminal = createInterface({ input: stdin, output: stdout });
  stream = agent.stream(answer(task, await terminal.question('> ')));
  terminal.close();
}
