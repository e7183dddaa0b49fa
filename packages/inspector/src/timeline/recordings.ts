import { remember } from '@batonjs/protocol/bounded-map';
import type { AgentLink } from '../agents/inspected.ts';
import type { TaskRow } from '../api/task.ts';
import { Recording } from './recording.ts';

/** How many tasks of an agent are recorded at most; the oldest recording is dropped. */
const most = 200;

/** The recordings of the tasks of one agent. */
export class Recordings {
  readonly #link: AgentLink;
  readonly #recordings = new Map<string, Recording>();

  constructor(link: AgentLink) {
    this.#link = link;
  }

  /** The recording of a task, which is followed from now on. */
  open(taskId: string): Recording {
    const recording = this.of(taskId);
    recording.follow(async (tap, options) =>
      (await this.#link.connect(tap)).follow(taskId, { ...options, pollMs: 500 }),
    );
    return recording;
  }

  /** The recording of a task, followed or not. */
  of(taskId: string): Recording {
    const known = this.#recordings.get(taskId);
    if (known) return known;
    const recording = new Recording();
    this.adopt(taskId, recording);
    return recording;
  }

  /** Keeps the recording of a task that began with it. */
  adopt(taskId: string, recording: Recording): void {
    remember(this.#recordings, taskId, recording, most)?.stop();
  }

  /** The rows of all tasks that the inspector saw, newest first. */
  rows(): TaskRow[] {
    const rows = [...this.#recordings.values()].flatMap(({ row }) => row ?? []);
    return rows.sort((one, other) => (other.statusAt ?? '').localeCompare(one.statusAt ?? ''));
  }

  /** Stops following all tasks. */
  close(): void {
    for (const recording of this.#recordings.values()) recording.stop();
  }
}
