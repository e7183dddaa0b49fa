import { setTimeout as pause } from 'node:timers/promises';
import type { TaskStore } from '@batonjs/store';
import { type MediumName, mediumOf } from '../../../../../scripts/chaos/medium.ts';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { createAgentServer } from '../../../src/index.ts';
import { stubbornAgent, stubbornly } from './stubborn-agent.ts';

/** A process of its own: runs a task, and is killed right before or right after a commit of its turn. */
const [medium, location = '', count, dies] = process.argv.slice(2);
const opened = await mediumOf(medium as MediumName).open(location);
let left = Number(count);
const store: TaskStore = new Proxy(opened, {
  get(target, name) {
    const member: unknown = Reflect.get(target, name);
    if (typeof member !== 'function') return member;
    if (name !== 'commit') return member.bind(target);
    return async (commit: Parameters<TaskStore['commit']>[0]) => {
      left--;
      if (left === 0 && dies === 'before') process.kill(process.pid, 'SIGKILL');
      const committed = await target.commit(commit);
      if (left === 0) process.kill(process.pid, 'SIGKILL');
      return committed;
    };
  },
});
const server = createAgentServer({
  card: { name: 'Test', description: 'For tests' },
  agent: stubbornAgent,
  store,
  logger: () => {},
  ...stubbornly,
});
const configuration = { returnImmediately: true };
const { task } = await rpc(server, 'SendMessage', {
  message: say('go', { messageId: 'the-one' }),
  configuration,
});
while ((await rpc(server, 'GetTask', { id: task.id })).status.state !== 'TASK_STATE_COMPLETED')
  await pause(20);
// Nothing was left to be killed at.
process.exit(7);
