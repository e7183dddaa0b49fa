import type { Unserved } from '../../api/task.ts';
import { changeQuery } from '../data/route.ts';
import { useSession } from '../data/session.ts';
import { CopyButton, Icon, QuietButton } from './bits.tsx';
import { plural } from './words.ts';

interface UnservedNoteProps {
  /** What waits, such as `Its turn waits`. */
  readonly what: string;
  readonly version: string;
  /** The name of the agent in its store. */
  readonly queue: string;
}

/** Says that tasks wait for a version of the agent that no process runs, and what to do. */
export function UnservedNote({ what, version, queue }: UnservedNoteProps) {
  const line = `baton tasks --store … --agent ${queue} release --of ${version}`;
  return (
    <div class="unserved-note" role="note">
      <Icon name="warning" />
      <div>
        <p class="auth-title">{`${what} for version ${version}, which no process runs.`}</p>
        <p>Start a process of that version, or let any version go on. A cancel ends them without it.</p>
        <p class="unserved-line">
          <code>{line}</code>
          <CopyButton text={line} />
        </p>
      </div>
    </div>
  );
}

interface UnservedNotesProps {
  /** By agent. */
  readonly unserved: ReadonlyMap<string, Unserved>;
  /** Whether the list has only these tasks. */
  readonly isChosen: boolean;
}

/** Which versions tasks wait for that no process runs: in a line with the way to them, or each with what to do. */
export function UnservedNotes({ unserved, isChosen }: UnservedNotesProps) {
  const { agents } = useSession();
  const found = [...unserved].flatMap(([agent, { queue, versions }]) =>
    versions.map((each) => ({ ...each, queue, name: agents.find(({ id }) => id === agent)?.name ?? agent })),
  );
  if (found.length === 0) return null;
  const all = found.reduce((sum, { tasks }) => sum + tasks, 0);
  if (!isChosen)
    return (
      <p class="unserved-hint">
        {`${plural(all, 'task')} ${all === 1 ? 'waits' : 'wait'} for a version that no process runs.`}{' '}
        <QuietButton
          onClick={() => changeQuery({ state: 'unserved', q: '', age: '', context: '', code: '' })}
        >
          {all === 1 ? 'Show it' : 'Show them'}
        </QuietButton>
      </p>
    );
  return (
    <>
      {found.map(({ version, tasks, queue, name }) => (
        <UnservedNote
          key={`${queue} ${version}`}
          what={`${plural(tasks, 'task')} of ${name} ${tasks === 1 ? 'waits' : 'wait'}`}
          {...{ version, queue }}
        />
      ))}
    </>
  );
}
