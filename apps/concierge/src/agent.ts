import { type Agent, failed, inputRequired, type Turn, working } from '@batonjs/server';
import { failureOf } from './failure.ts';
import { messageFor, relay } from './relay.ts';
import { chooseAgent, type RemoteTask, remoteTaskOf } from './remote-task.ts';
import { openRemote, type Remotes } from './remotes.ts';

/** Hands requests to other agents and relays their answers to the user. `onCancel` cancels their running tasks. */
export function concierge(remotes: Remotes): { agent: Agent; onCancel: (turn: Turn) => Promise<void> } {
  return {
    async *agent(turn) {
      const earlier = remoteTaskOf(turn.messages);
      const name = earlier?.agent ?? chooseAgent(turn.messages, Object.keys(remotes));
      if (!name || !Object.hasOwn(remotes, name))
        return yield inputRequired(`Whom should I ask: ${Object.keys(remotes).join(', ')}?`);
      let remoteTask: RemoteTask | undefined = earlier;
      try {
        if (!earlier) yield working(`Asking ${name}`);
        const remote = await openRemote(remotes[name]!, turn.signal);
        // A recorded step: after a crash, the next attempt follows the remote task instead of sending again.
        remoteTask = await turn.step('send', () => messageFor(remote, name, turn, earlier));
        yield* relay(remote, remoteTask, earlier, turn);
      } catch (error) {
        const { code } = Object(turn.signal.reason) as { code?: string };
        if (code === 'CANCELED' || code === 'DEADLINE') await cancel(remotes, remoteTask);
        if (turn.signal.aborted) throw error;
        yield failed(failureOf(error, name));
      }
    },
    onCancel: (turn) => cancel(remotes, remoteTaskOf(turn.messages)),
  };
}

/** Cancels the remote task, if there is one. A refusal is ignored: the task may have ended already. */
async function cancel(remotes: Remotes, remoteTask: RemoteTask | undefined): Promise<void> {
  const remote = remoteTask && remotes[remoteTask.agent];
  if (!remote || !remoteTask?.taskId) return;
  const { taskId } = remoteTask;
  await (await openRemote(remote)).cancelTask({ id: taskId }).catch(() => {});
}
