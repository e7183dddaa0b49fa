import { ArtifactLineage, type ArtifactVersion } from '@batonjs/client';
import type { Artifact, Task } from '@batonjs/protocol';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { TaskList } from '../../api/task.ts';
import { agentPath, get, queryOf } from '../data/api.ts';
import { hrefOf } from '../data/route.ts';
import { Loading } from '../parts/bits.tsx';
import { Select } from '../parts/choice.tsx';
import { Content } from '../parts/content.tsx';
import { shortId } from '../parts/words.ts';

interface VersionsProps {
  readonly agent: string;
  readonly scope: number;
  readonly contextId: string;
  readonly artifact: Artifact;
  readonly onClose: () => void;
}

/** The artifacts of a name in a context side by side: each refinement is a task of its own. Spec: §3.4.3. */
export function Versions({ agent, scope, contextId, artifact, onClose }: VersionsProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [versions, setVersions] = useState<readonly ArtifactVersion[]>();
  const name = artifact.name || artifact.artifactId;
  const [left, setLeft] = useState(0);
  const [right, setRight] = useState(0);

  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    let isGone = false;
    void readVersions(agent, scope, contextId, name).then((found) => {
      if (isGone) return;
      setVersions(found);
      setLeft(Math.max(0, found.length - 2));
      setRight(Math.max(0, found.length - 1));
    });
    return () => {
      isGone = true;
    };
  }, [agent, scope, contextId, name]);

  return (
    <dialog ref={dialog} class="versions" aria-label={`Versions of ${name}`} onClose={onClose}>
      <header class="section-head">
        <h2>Versions of {name}</h2>
        <button type="button" class="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </header>
      {!versions && <Loading what="Reading the tasks of the context" />}
      {versions && (
        <div class="side-by-side">
          <Side agent={agent} label="Left" versions={versions} chosen={left} onChoose={setLeft} />
          {versions.length > 1 && (
            <Side agent={agent} label="Right" versions={versions} chosen={right} onChoose={setRight} />
          )}
        </div>
      )}
    </dialog>
  );
}

interface SideProps {
  readonly agent: string;
  readonly label: string;
  readonly versions: readonly ArtifactVersion[];
  readonly chosen: number;
  readonly onChoose: (index: number) => void;
}

function Side({ agent, label, versions, chosen, onChoose }: SideProps) {
  const version = versions[chosen];
  if (!version) return <p class="muted">There is no version.</p>;
  return (
    <section class="side" aria-label={`${label} version`}>
      <Select
        label={`${label} version`}
        chosen={chosen}
        values={versions.map(({ number }, index) => [index, `Version ${number} of ${versions.length}`])}
        onChoose={onChoose}
      />
      <p class="muted">
        by task <a href={hrefOf(agent, 'tasks', version.taskId)}>{shortId(version.taskId)}</a>
      </p>
      {version.artifact.description && <p>{version.artifact.description}</p>}
      <Content parts={version.artifact.parts} agent={agent} />
    </section>
  );
}

async function readVersions(
  agent: string,
  scope: number,
  contextId: string,
  name: string,
): Promise<ArtifactVersion[]> {
  const { tasks } = await get<TaskList>(agentPath(agent, 'tasks') + queryOf({ contextId, scope }));
  const lineage = new ArtifactLineage();
  // The list is newest first, versions are counted from the oldest.
  for (const { id } of tasks.toReversed())
    lineage.add(await get<Task>(agentPath(agent, 'tasks', id) + queryOf({ scope })));
  return lineage.versions(contextId, name);
}
