import type { Artifact, Message, Part, Task } from '@batonjs/protocol';

/** The user's judgement of a version. */
export type Verdict = 'accepted' | 'rejected';

/** One artifact of one task, as a version of all artifacts with its name in its context. */
export interface ArtifactVersion {
  readonly contextId: string;
  /** The artifact's name, or its id if it has no name. */
  readonly name: string;
  /** The number of the version, from 1. */
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
 * The versions of artifacts. A terminal task never changes, so a refinement is another task in the same context whose
 * artifact has the same name and another id. The client decides which version is accepted. Spec: §3.4.3.
 */
export class ArtifactLineage {
  #versions: ArtifactVersion[];

  /** Starts empty, or from a saved lineage. */
  constructor(saved: SavedLineage = { versions: [] }) {
    this.#versions = [...saved.versions];
  }

  /** Adds the artifacts of a task. Known ones are updated and keep their number and verdict. Returns the new versions. */
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

  /** The versions of a name in a context, oldest first; without a name, those of all names. */
  versions(contextId: string, name?: string): ArtifactVersion[] {
    return this.#versions.filter(
      (version) => version.contextId === contextId && (name === undefined || version.name === name),
    );
  }

  /** The newest version, whatever its verdict. */
  latest(contextId: string, name: string): ArtifactVersion | undefined {
    return this.versions(contextId, name).at(-1);
  }

  /** The newest accepted version. */
  latestAccepted(contextId: string, name: string): ArtifactVersion | undefined {
    return this.versions(contextId, name).findLast(({ verdict }) => verdict === 'accepted');
  }

  /** Marks a version as accepted. Throws `RangeError` for an unknown version. */
  accept(version: Identified): ArtifactVersion {
    return this.#judge(version, 'accepted');
  }

  /** Marks a version as rejected. Throws `RangeError` for an unknown version. */
  reject(version: Identified): ArtifactVersion {
    return this.#judge(version, 'rejected');
  }

  /** The lineage as JSON. The constructor accepts it. */
  toJSON(): SavedLineage {
    return { versions: [...this.#versions] };
  }

  #judge(version: Identified, verdict: Verdict): ArtifactVersion {
    const index = this.#versions.findIndex(isOf(version));
    const known = this.#versions[index];
    if (!known) throw new RangeError(`No version ${version.artifact.artifactId} of task ${version.taskId}`);
    const judged = { ...known, verdict };
    this.#versions[index] = judged;
    return judged;
  }
}

/** The members that identify a version. */
type Identified = Pick<ArtifactVersion, 'taskId' | 'artifact'>;

const isOf =
  ({ taskId, artifact: { artifactId } }: Identified) =>
  (other: Identified) =>
    other.taskId === taskId && other.artifact.artifactId === artifactId;

/**
 * Creates a message for `agent.send` that asks to refine versions. It starts a new task in their context, refers to
 * their tasks, and names each artifact in the metadata of the part. Spec: §3.4.3.
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
