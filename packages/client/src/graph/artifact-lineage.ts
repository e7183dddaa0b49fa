import type { Artifact, Message, Part, Task } from '@batonjs/protocol';

/** What the user thinks of a version. */
export type Verdict = 'accepted' | 'rejected';

/** One artifact of one task, seen as a version of what its name stands for in its context. */
export interface ArtifactVersion {
  readonly contextId: string;
  /** The artifact's name; its id where it has none. */
  readonly name: string;
  /** Counts from 1. */
  readonly number: number;
  readonly taskId: string;
  readonly artifact: Artifact;
  readonly verdict?: Verdict;
}

/** A lineage as plain JSON. */
export interface SavedLineage {
  readonly versions: readonly ArtifactVersion[];
}

/**
 * The versions of artifacts, as tasks refine them: a task that has ended never changes, so a refinement is another task in
 * the same context whose artifact has the same name and another id. Which one counts is for the client to say.
 */
export class ArtifactLineage {
  #versions: ArtifactVersion[];

  /** An empty lineage, or one that was saved. */
  constructor(saved: SavedLineage = { versions: [] }) {
    this.#versions = [...saved.versions];
  }

  /** Takes in the artifacts of a task; those that are known keep their number and verdict. Returns the new versions. */
  add({ id: taskId, contextId = '', artifacts = [] }: Task): ArtifactVersion[] {
    const added: ArtifactVersion[] = [];
    for (const artifact of artifacts) {
      const known = this.#versions.findIndex(isOf({ taskId, artifact }));
      if (known !== -1) {
        this.#versions[known] = { ...this.#versions[known]!, artifact };
        continue;
      }
      const name = artifact.name || artifact.artifactId;
      const number = this.versions(contextId, name).length + 1;
      const version = { contextId, name, number, taskId, artifact };
      this.#versions.push(version);
      added.push(version);
    }
    return added;
  }

  /** All versions of a name in a context, oldest first; without a name, of all names. */
  versions(contextId: string, name?: string): ArtifactVersion[] {
    return this.#versions.filter(
      (version) => version.contextId === contextId && (name === undefined || version.name === name),
    );
  }

  /** The newest version, whatever was thought of it. */
  latest(contextId: string, name: string): ArtifactVersion | undefined {
    return this.versions(contextId, name).at(-1);
  }

  /** The newest version that was accepted. */
  latestAccepted(contextId: string, name: string): ArtifactVersion | undefined {
    return this.versions(contextId, name).findLast(({ verdict }) => verdict === 'accepted');
  }

  /** Says that this version is good. */
  accept(version: Identified): ArtifactVersion {
    return this.#judge(version, 'accepted');
  }

  /** Says that this version is not what was wanted. */
  reject(version: Identified): ArtifactVersion {
    return this.#judge(version, 'rejected');
  }

  /** What `JSON.stringify` writes, and the constructor takes. */
  toJSON(): SavedLineage {
    return { versions: [...this.#versions] };
  }

  /** Throws `RangeError` for a version that was never added. */
  #judge(version: Identified, verdict: Verdict): ArtifactVersion {
    const index = this.#versions.findIndex(isOf(version));
    const known = this.#versions[index];
    if (!known) throw new RangeError(`No version ${version.artifact.artifactId} of task ${version.taskId}`);
    const judged = { ...known, verdict };
    this.#versions[index] = judged;
    return judged;
  }
}

/** Enough of a version to find it by. */
type Identified = Pick<ArtifactVersion, 'taskId' | 'artifact'>;

const isOf =
  ({ taskId, artifact: { artifactId } }: Identified) =>
  (other: Identified) =>
    other.taskId === taskId && other.artifact.artifactId === artifactId;

/**
 * A message about versions, for `agent.send`: a new task in their context that refers to their tasks, each artifact named
 * in the metadata of the part. Spec: §3.4.3.
 */
export function refine(
  versions: ArtifactVersion | readonly ArtifactVersion[],
  input: string | Part,
): Pick<Message, 'contextId' | 'referenceTaskIds' | 'parts'> {
  const all = [versions].flat() as readonly ArtifactVersion[];
  const references = all.map(({ taskId, artifact: { artifactId } }) => ({ taskId, artifactId }));
  const part: Part = typeof input === 'string' ? { text: input } : input;
  const metadata = references.length === 1 ? references[0] : { references };
  return {
    ...(all[0]?.contextId && { contextId: all[0].contextId }),
    referenceTaskIds: [...new Set(references.map(({ taskId }) => taskId))],
    parts: [{ ...part, metadata: { ...part.metadata, ...metadata } }],
  };
}
