import { type Agent, failed, inputRequired, type Turn, working } from '@batonjs/server';
import { type Errand, errandOf, whoDoes } from './errand.ts';
import { failureOf } from './failure.ts';
import { messageFor, relay } from './relay.ts';
import { openRemote, type Remotes } from './remotes.ts';

/** Has other agents do what it is asked, and stands between them and the user. `onCancel` ends what they still do. */
export function concierge(remotes: Remotes): { agent: Agent; onCancel: (turn: Turn) => Promise<void> } {
  return {
    async *agent(turn) {
      const earlier = errandOf(turn.messages);
      const name = earlier?.agent ?? whoDoes(turn.messages, Object.keys(remotes));
      if (!name || !Object.hasOwn(remotes, name))
        return yield inputRequired(`Whom should I ask: ${Object.keys(remotes).join(', ')}?`);
      let errand: Errand | undefined = earlier;
      try {
        if (!earlier) yield working(`Asking ${name}`);
        const remote = await openRemote(remotes[name]!, turn.signal);
        // Sent once, also when this process dies: another attempt follows what was started.
        errand = await turn.step('send', () => messageFor(remote, name, turn, earlier));
        yield* relay(remote, errand, earlier, turn);
      } catch (error) {
        const { code } = Object(turn.signal.reason) as { code?: string };
        if (code === 'CANCELED' || code === 'DEADLINE') await cancel(remotes, errand);
        if (turn.signal.aborted) throw error;
        yield failed(failureOf(error, name));
      }
    },
    onCancel: (turn) => cancel(remotes, errandOf(turn.messages)),
  };
}

/** Cancels what a remote agent does for us. That it has ended already is no news. */
async function cancel(remotes: Remotes, errand: Errand | undefined): Promise<void> {
  const remote = errand && remotes[errand.agent];
  if (!remote || !errand?.taskId) return;
  const { taskId } = errand;
  await (await openRemote(remote)).cancelTask({ id: taskId }).catch(() => {});
}
