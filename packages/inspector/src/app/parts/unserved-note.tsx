import type { ComponentChildren } from 'preact';
import { CopyButton } from './bits.tsx';
import { Icon } from './icon.tsx';

interface UnservedNoteProps {
  /** What waits. */
  readonly children: ComponentChildren;
  readonly version: string;
  /** The name of the agent in its store. */
  readonly queue: string;
}

/** Says that tasks wait for a version of the agent that no process runs, and what to do. */
export function UnservedNote({ children, version, queue }: UnservedNoteProps) {
  const line = `baton tasks --store … --agent ${queue} release --of ${version}`;
  return (
    <div class="unserved-note" role="note">
      <Icon name="warning" />
      <div>
        <p class="auth-title">{children}</p>
        <p>Start a process of that version, or let any version go on. A cancel ends them without it.</p>
        <p class="unserved-line">
          <code>{line}</code>
          <CopyButton text={line} />
        </p>
      </div>
    </div>
  );
}
