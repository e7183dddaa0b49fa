import type { Explanation } from './explanation.ts';

const file = (name: string): string => `packages/store-memory/src/${name}.ts`;
const emptyGroup = 'Larger, but the same: a group without members is as good as none.';
const found = 'The same: an item that is to be removed is in its list.';

export const explanationsOfStoreMemory: readonly Explanation[] = [
  {
    file: file('logs/log'),
    line: "return typeof this.#once === 'string'",
    replacements: ['true'],
    why: 'Slower, but the same: a map of the keys is copied.',
  },
  {
    file: file('logs/log'),
    line: "if (typeof this.#once !== 'string') this.#once = (this.#once ?? new Map()).set(once, version);",
    replacements: ['true', '""'],
    why: 'No log has it: a closed log takes no commit.',
  },
  {
    file: file('logs/log'),
    line: 'if (left) this.#byTaskId.set(log.taskId, left);',
    replacements: ['true'],
    why: 'Larger, but the same: a name without a log is as good as none.',
  },
  {
    file: file('logs/log'),
    line: 'return left.length > 1 ? left : left[0];',
    replacements: ['true', 'left.length >= 1'],
    why: 'Larger, but the same: one log in a list is found like one without.',
  },
  {
    file: file('logs/log'),
    line: "statusAt = '';",
    why: 'The same: it is set before it is read.',
  },
  {
    file: file('logs/facts'),
    line: 'if (this.#newest.length === 2 * perBlock) this.#toBlock(this.#newest.splice(0, perBlock));',
    why: 'Slower when the log closes, but the same: all blocks are made then.',
  },
  {
    file: file('logs/facts'),
    line: 'if (!this.#newest || until <= inBlocks) return facts;',
    replacements: ['until < inBlocks'],
    why: 'Slower, but the same: none of the newest is before that position.',
  },
  {
    file: file('logs/facts'),
    line: 'return facts.length === 0 ? newest : [...facts, ...newest];',
    replacements: ['false'],
    why: 'Slower, but the same: the newest are copied once more.',
  },
  {
    file: file('logs/facts'),
    line: "let commitId = '';",
    why: 'The same: the first fact of a block names its commit.',
  },
  {
    file: file('logs/facts'),
    line: "parts.push(commitId === last ? '' : commitId, JSON.stringify(fact));",
    replacements: ['false'],
    why: 'Larger, but the same: every fact names its commit.',
  },
  {
    file: file('logs/large-map'),
    line: '(key.charCodeAt(length - 3) * 31 + key.charCodeAt(length - 2)) * 31 + key.charCodeAt(length - 1);',
    why: 'Slower with very many strings, but the same: they are spread over the parts in another way.',
  },
  {
    file: file('groups'),
    line: 'else if (members instanceof Set) members.add(member);',
    replacements: ['false'],
    why: 'Slower, but the same: the set is copied for each member.',
  },
  {
    file: file('order/schedule'),
    line: 'list?.remove(place);',
    replacements: ['list.remove'],
    why: found,
  },
  {
    file: file('order/schedule'),
    line: 'if (list?.length === 0) this.#queues.delete(place.queue);',
    replacements: ['list.length'],
    why: found,
  },
  {
    file: file('order/schedule'),
    line: 'if (list?.length === 0) this.#queues.delete(place.queue);',
    replacements: ['false', ';'],
    why: emptyGroup,
  },
  {
    file: file('order/sorted-list'),
    line: 'if (chunk.length <= CHUNK) return;',
    replacements: ['true'],
    why: 'Slower with very many items, but the same: they are moved within one long array.',
  },
  {
    file: file('order/sorted-list'),
    line: 'const cut = at === this.#chunks.length - 1 ? CHUNK : CHUNK / 2;',
    replacements: ['false', 'this.#chunks.length + 1'],
    why: 'Larger, but the same: items that come in order leave half empty chunks behind.',
  },
  {
    file: file('order/sorted-list'),
    line: 'if (found === undefined || this.#compare(found, item) !== 0) return;',
    replacements: ['false'],
    why: 'The same: the chunk that was chosen does not end before the item.',
  },
  {
    file: file('memory-store'),
    line: "const lastAt = commit.expectedVersion === 'open' ? known?.facts.at(length)?.fact.at : undefined;",
    replacements: ['true'],
    why: 'Slower, but the same: only the facts of an open append are put in order.',
  },
  {
    file: file('memory-store'),
    line: "const lastAt = commit.expectedVersion === 'open' ? known?.facts.at(length)?.fact.at : undefined;",
    replacements: ['known?.facts.at(length).fact', 'known.facts'],
    why: 'The same: an open append to a log that is missing was refused before.',
  },
  {
    file: file('memory-store'),
    line: 'const counted = once === undefined ? undefined : known?.usedAt(once);',
    replacements: ['false'],
    why: 'The same: no commit used a key that is undefined.',
  },
  {
    file: file('memory-store'),
    line: 'if (!known) logs.add(log);',
    replacements: ['true'],
    why: 'Larger, but the same: a log that is found twice is deleted twice.',
  },
  {
    file: file('memory-store'),
    line: 'if (once !== undefined) log.use(once, length + 1);',
    replacements: ['true'],
    why: 'Larger, but the same: no commit asks for a key that is undefined.',
  },
  {
    file: file('ready-queue'),
    line: 'if (before?.aheadMs !== undefined || after?.aheadMs !== undefined)',
    replacements: ['true'],
    why: 'Slower, but the same: a task without a schedule has no place among the turns.',
  },
  {
    file: file('ready-queue'),
    line: 'if (after?.queue !== undefined && at !== undefined) {',
    replacements: ['true'],
    why: 'Larger, but the same: no claim is for a task without a queue.',
  },
  {
    file: file('ready-queue'),
    line: 'const taken = left.filter(({ row }) => !isKept?.(row.holder!)).slice(0, limit);',
    replacements: ['left.filter(({ row }) => !isKept?.(row.holder!))'],
    why: 'Slower, but the same: of more tasks than were asked for, the claim takes the first.',
  },
  {
    file: file('ready-queue'),
    line: '{ ...request, limit: limit - taken.length },',
    replacements: ['limit + taken.length'],
    why: 'Slower, but the same: of more tasks than were asked for, the claim takes the first.',
  },
  {
    file: file('ready-queue'),
    line: 'if (count === 0) this.#waiting.delete(queue);',
    replacements: ['false'],
    why: 'Larger, but the same: a queue that is missing counts as empty.',
  },
];
