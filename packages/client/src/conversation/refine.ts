import type { Artifact, Message, Part } from '@batonjs/protocol';

/** An artifact and its task, which names it: artifacts of other tasks may have the same id. */
export interface ArtifactOfTask {
  readonly taskId: string;
  readonly contextId?: string | undefined;
  readonly artifact: Pick<Artifact, 'artifactId'>;
}

/**
 * Creates a message for `agent.send` that asks to refine artifacts. A task that ended never changes, so it starts another
 * one in their context, refers to their tasks, and names each artifact in the metadata of the part. Spec: §3.4.3.
 */
export function refine(
  artifacts: ArtifactOfTask | readonly ArtifactOfTask[],
  input: string | Part,
): Pick<Message, 'contextId' | 'referenceTaskIds' | 'parts'> {
  const all = [artifacts].flat() as readonly ArtifactOfTask[];
  const references = all.map(({ taskId, artifact: { artifactId } }) => ({ taskId, artifactId }));
  const part: Part = typeof input === 'string' ? { text: input } : input;
  const metadata = references.length === 1 ? references[0] : { references };
  return {
    ...(all[0]?.contextId && { contextId: all[0].contextId }),
    referenceTaskIds: [...new Set(references.map(({ taskId }) => taskId))],
    parts: [{ ...part, metadata: { ...part.metadata, ...metadata } }],
  };
}
