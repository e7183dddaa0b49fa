/** The client of the recording: prints what the agent sends. Nothing in it is about kills or connections. */
import { connect, textOf } from '@batonjs/client';

const agent = await connect(process.env.URL!);
for await (const { task, statusUpdate, artifactUpdate } of agent.stream('Read it')) {
  const state = task?.status.state ?? statusUpdate?.status.state;
  if (state) console.log(state.replace('TASK_STATE_', ''));
  if (artifactUpdate) console.log(textOf(artifactUpdate.artifact));
}
