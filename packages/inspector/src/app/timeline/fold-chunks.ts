import type { AgentEvent } from '@batonjs/client';
import type { TimelineRow } from './timeline.ts';

/** A row of the list: one entry, or several chunks of one artifact in a row. */
export interface ListedRow {
  readonly row: TimelineRow;
  /** The index of the entry; of several the last one. */
  readonly index: number;
  /** The first of several chunks. */
  first?: TimelineRow;
  /** How many chunks it stands for, if several. */
  chunks?: number;
}

/** The rows with chunks of one artifact that follow each other as one row, which shows the last of them. */
export function foldChunks(rows: readonly ListedRow[]): readonly ListedRow[] {
  const folded: ListedRow[] = [];
  let latest: string | undefined;
  for (const { row, index } of rows) {
    const artifact = chunkOf(row);
    const before = folded.at(-1);
    if (artifact === undefined || artifact !== latest || !before) folded.push({ row, index });
    else
      folded[folded.length - 1] = {
        row,
        index,
        first: before.first ?? before.row,
        chunks: (before.chunks ?? 1) + 1,
      };
    latest = artifact;
  }
  return folded;
}

/** The id of the artifact that an entry sends, or adds to. */
export function chunkOf({ entry: { fact, event } }: TimelineRow): string | undefined {
  if (fact) return fact.type === 'artifact-updated' ? fact.artifact.artifactId : undefined;
  return (event as AgentEvent | undefined)?.artifactUpdate?.artifact?.artifactId;
}
