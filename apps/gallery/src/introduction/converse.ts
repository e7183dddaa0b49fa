import { connect, dataOf, textOf } from '@batonjs/client';

/** Sends one message to an agent over HTTP and yields each event as a line. Rejects if the agent cannot be reached. */
export async function* converse(url: string, text: string): AsyncGenerator<string> {
  const agent = await connect(url);
  yield `you          ${text}`;
  for await (const { task, message, statusUpdate, artifactUpdate } of agent.stream(text)) {
    const status = task?.status ?? statusUpdate?.status;
    if (status)
      yield `${status.state.replace('TASK_STATE_', '').padEnd(12)} ${textOf(status.message)}`.trimEnd();
    if (message) yield `agent        ${textOf(message)}`;
    if (!artifactUpdate) continue;
    const { artifact } = artifactUpdate;
    const content = dataOf(artifact);
    yield `artifact     ${artifact.name}: ${content === undefined ? textOf(artifact) : JSON.stringify(content)}`;
  }
}
