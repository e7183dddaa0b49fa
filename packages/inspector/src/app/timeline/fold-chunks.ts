import type { AgentEvent } from '@batonjs/client';
import type { TimelineRow } from './timeline.ts';

/** A row of the list: one entry, or several chunks of one artifact in a row. */
export interface ListedRow {
  readonly row: TimelineRow;
  /** The index of the entry; of several the last one. */
  readonly index: number;
  /** The first of several chunks. */
  readonly first?: TimelineRow;
  /** How many chunks it stands for, if several. */
  readonly chunks?: number;
}

/**
 * The rows of the entries that are shown. With `folds`, chunks of one artifact that follow each other are one row, which
 * shows the last of them.
 */
export function listRows(
  rows: readonly TimelineRow[],
  isShown: (row: TimelineRow) => boolean,
  folds: boolean,
): readonly ListedRow[] {
  const listed: ListedRow[] = [];
  let latest: string | undefined;
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index]!;
    if (!isShown(row)) continue;
    const artifact = folds ? chunkOf(row) : undefined;
    const before = artifact !== undefined && artifact === latest ? listed.pop() : undefined;
    const folded = before && { first: before.first ?? before.row, chunks: (before.chunks ?? 1) + 1 };
    listed.push({ row, index, ...folded });
    latest = artifact;
  }
  return listed;
}

/** The id of the artifact that an entry sends, or adds to. */
export function chunkOf({ entry: { fact, event } }: TimelineRow): string | undefined {
  if (fact) return fact.type === 'artifact-updated' ? fact.artifact.artifactId : undefined;
  return (event as AgentEvent | undefined)?.artifactUpdate?.artifact?.artifactId;
}
