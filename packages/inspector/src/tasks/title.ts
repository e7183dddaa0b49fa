import type { Message } from '@batonjs/protocol';
import type { PartMembers } from '../api/part-members.ts';
import type { TaskRow } from '../api/task.ts';

/** The longest title in characters. */
const most = 120;

/** What a task is about, in one line: the text of its first message, else its data or the name of its file. */
export function titleOf(message: Message | undefined): string | undefined {
  const parts: readonly PartMembers[] = message?.parts ?? [];
  const part = parts.find(({ text }) => text?.trim()) ?? parts[0];
  const words = part?.text ?? part?.filename ?? part?.url ?? JSON.stringify(part?.data);
  const line = words
    ?.slice(0, 4 * most)
    .replace(/\s+/g, ' ')
    .trim();
  if (!line) return undefined;
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/** The label by which an agent says what a task is about. */
const titleLabel = /^title:\s*(\S.*)$/s;

/** What labels say: the title, if one of them is it, and the others. */
export function readLabels(labels: readonly string[] = []): { title?: string; labels?: readonly string[] } {
  const title = labels.map((label) => titleLabel.exec(label)?.[1]).find(Boolean);
  const others = labels.filter((label) => !titleLabel.test(label));
  return { ...(title && { title }), ...(others.length > 0 && { labels: others }) };
}

/** Whether a task is found by a text: in its id, its title, what its status says, or its labels. */
export function hasText(text: string): (row: TaskRow) => boolean {
  const wanted = text.toLowerCase();
  return ({ id, title = '', text: said = '', labels = [], code = '' }) =>
    [id, title, said, code, ...labels].some((each) => each.toLowerCase().includes(wanted));
}
