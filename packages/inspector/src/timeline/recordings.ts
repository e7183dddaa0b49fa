import { remember } from '@batonjs/protocol/bounded-map';
import type { AgentLink } from '../agents/inspected.ts';
import type { TaskRow } from '../api/task.ts';
import { Recording } from './recording.ts';

/** How many tasks of an agent are recorded at most; the oldest recording is dropped. */
const most = 200;

export type Recordings = ReturnType<typeof recordingsOf>;

export function recordingsOf(link: Pick<AgentLink, 'connect'>) {
  const recordings = new Map<string, Recording>();

  /** Keeps the recording of a task that began with it. */
  const adopt = (taskId: string, recording: Recording): void =>
    remember(recordings, taskId, recording, most)?.stop();

  /** The recording of a task, followed or not. */
  function of(taskId: string): Recording {
    const known = recordings.get(taskId);
    if (known) return known;
    const recording = new Recording();
    adopt(taskId, recording);
    return recording;
  }

  return {
    adopt,
    of,
    /** The recording of a task, which is followed from now on. */
    open(taskId: string): Recording {
      const recording = of(taskId);
      recording.follow(async (tap, options) =>
        (await link.connect(tap)).follow(taskId, { ...options, pollMs: 500 }),
      );
      return recording;
    },
    /** The rows of all tasks that the inspector saw, newest first. */
    rows: (): TaskRow[] =>
      [...recordings.values()]
        .flatMap(({ row }) => row ?? [])
        .sort((one, other) => (other.statusAt ?? '').localeCompare(one.statusAt ?? '')),
    /** Stops following all tasks. */
    close(): void {
      for (const recording of recordings.values()) recording.stop();
    },
  };
}
