import { json } from 'node:stream/consumers';
import { getHeapSnapshot } from 'node:v8';

interface Snapshot {
  readonly snapshot: {
    readonly meta: { readonly node_fields: string[]; readonly node_types: [string[], ...unknown[]] };
  };
  readonly nodes: number[];
  readonly strings: string[];
}

/** What a program can hold. V8's own compiled code and shapes come and go as it pleases. */
const held = new Set(['object', 'closure', 'string', 'number', 'bigint', 'symbol', 'array', 'regexp']);

/** How many objects of each class, closures, strings, numbers … the heap holds after a garbage collection. */
export async function heapCounts(): Promise<Map<string, number>> {
  const { snapshot, nodes, strings } = (await json(getHeapSnapshot())) as Snapshot;
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [typeAt, nameAt] = [fields.indexOf('type'), fields.indexOf('name')];
  const counts = new Map<string, number>();
  for (let at = 0; at < nodes.length; at += fields.length) {
    // Strings that were joined or cut are strings.
    const type = types[0][nodes[at + typeAt]!]!.replace(/^(concatenated|sliced) /, '');
    if (!held.has(type)) continue;
    const what = type === 'object' ? strings[nodes[at + nameAt]!]! : type;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return counts;
}

/** What there is more of, and how much more. */
export const grown = (
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): Record<string, number> =>
  Object.fromEntries(
    [...after].flatMap(([what, count]) => {
      const more = count - (before.get(what) ?? 0);
      return more > 0 ? [[what, more]] : [];
    }),
  );
