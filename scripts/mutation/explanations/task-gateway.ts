import type { Explanation } from './explanation.ts';

const updateSocket = 'packages/task-gateway/src/sockets/update-socket.ts';

export const explanationsOfTaskGateway: readonly Explanation[] = [
  {
    file: updateSocket,
    line: 'this.#congestedSince !== undefined &&',
    replacements: ['true'],
    why: 'The same: no difference to an unknown time is larger than anything.',
  },
  {
    file: 'packages/task-gateway/src/tasks/wait-for-update.ts',
    line: 'if (!read || read.task.sequence > after || isFinal(read.task) || leftMs <= 0 || signal.aborted)',
    replacements: ['leftMs < 0'],
    why: 'Slower, but the same: a wait of no time at all is over at the next look.',
  },
];
