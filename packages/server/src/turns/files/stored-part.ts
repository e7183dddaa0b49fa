import type { Part } from '@batonjs/protocol';
import { FILES } from '@batonjs/protocol/headers';

/** What a log keeps of a file. */
export interface StoredFile {
  /** The task that the file was stored for. */
  readonly taskId: string;
  readonly id: string;
  readonly size: number;
  /** In hex. */
  readonly sha256: string;
}

/** The address that a part names, if it is one of a file. */
export const urlOf = (part: Part): string | undefined => ('url' in part ? part.url : undefined);

export const rawOf = (part: Part): string | undefined => ('raw' in part ? part.raw : undefined);

/**
 * The part for a file that is stored: with a link, or of a log. There its address is read below the scope of the log alone,
 * so that no text of a caller names a file of another one.
 */
export function storedPart(
  { taskId, id, size, sha256 }: StoredFile,
  part: Partial<Part>,
  url = `baton-file:${taskId}/${id}`,
): Part {
  const { raw: _, url: __, metadata, ...about } = part as Partial<Part> & { raw?: string; url?: string };
  return { ...about, url, metadata: { ...metadata, [FILES]: { size, sha256 } } } as Part;
}

/** The file that a part of a log names; undefined for other parts. */
export function storedIn(part: Part): StoredFile | undefined {
  const [, taskId, id] = /^baton-file:([^/]*)\/?(.*)$/s.exec(urlOf(part) ?? '') ?? [];
  if (taskId === undefined || id === undefined) return undefined;
  const { size = 0, sha256 = '' } = Object(part.metadata?.[FILES]) as { size?: unknown; sha256?: unknown };
  return { taskId, id, size: Number(size), sha256: String(sha256) };
}

/** The members of messages, artifacts, tasks, events, lists, references and facts that lead to parts. */
const ways = /^(tasks?|message|status|history|artifacts?|statusUpdate|artifactUpdate)$/;

/** The value with other parts: itself if none is another one. `change` learns of which task a part is, if the value says it. */
export function mapParts<T>(value: T, change: (part: Part, taskId?: string) => Part, taskId?: string): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const made = value.map((item) => mapParts(item, change, taskId));
    return made.every((item, n) => item === value[n]) ? value : (made as T);
  }
  const { id, taskId: of = 'status' in value ? id : taskId } = value as { id?: string; taskId?: string };
  let copy = value;
  for (const [name, member] of Object.entries(value)) {
    const isParts = name === 'parts' && Array.isArray(member);
    if (!isParts && !ways.test(name)) continue;
    const made = isParts ? member.map((part: Part) => change(part, of)) : mapParts(member, change, of);
    if (isParts ? made.every((part: Part, n: number) => part === member[n]) : made === member) continue;
    if (copy === value) copy = { ...value };
    (copy as Record<string, unknown>)[name] = made;
  }
  return copy;
}
