import { connect, dataOf, textOf } from '@batonjs/client';

/** Has one conversation with an agent over HTTP and tells, line by line, what comes of it. Rejects if it cannot. */
export async function* converse(url: string, said: string): AsyncGenerator<string> {
  const agent = await connect(url);
  yield `you          ${said}`;
  for await (const { task, message, statusUpdate, artifactUpdate } of agent.stream(said)) {
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
