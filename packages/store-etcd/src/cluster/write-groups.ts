import { Group, type Grouped } from '@batonjs/store/adapter';
import type { Compare, RangeRequest, RangeResponse, TxnRequest, Write } from '../wire/messages.ts';
import type { Answer, Cluster } from './cluster.ts';
import { isTooLarge } from './connections.ts';

/** A write that happens only if all comparisons hold. Otherwise it reads. */
export interface ConditionalWrite {
  /** What it writes to: digests of tasks, names of records and of queues. Writes of one never share a transaction. */
  readonly to: readonly string[];
  readonly compare: readonly Compare[];
  /** At most 90, on keys of these only, unless it shares no transaction. */
  readonly writes: readonly Write[];
  readonly reads: readonly RangeRequest[];
  /** It shares no transaction: it fails as a whole if a part of a value has vanished, or it writes several tasks. */
  readonly isAlone?: boolean;
}

export interface Outcome extends Pick<Answer, 'succeeded' | 'isRepeated'> {
  /** The revision of the cluster: of the keys that were written, if it succeeded. */
  readonly revision: number;
  /** If it did not succeed. */
  readonly reads: readonly RangeResponse[];
}

/** A write, and how much of a transaction it takes, about. */
interface Sized extends ConditionalWrite {
  readonly bytes: number;
}

type Members = readonly Grouped<Sized, Outcome>[];

// The limits of a transaction: etcd takes 128 operations with those of the transactions inside, and 1.5 MiB.
const largestGroup = 32;
const mostOperations = 126;
const largestBytes = 512 * 1024;

/** How many groups are sent before the first is answered. */
const mostUnderWay = 4;

/**
 * Writes that arrive together share a transaction of etcd. Each is a transaction inside it with comparisons of its own,
 * so that one fails alone.
 */
export class WriteGroups {
  readonly #cluster: Cluster;
  readonly #counted: string;
  readonly #onGroup: ((size: number) => void) | undefined;
  readonly #groups = new Group<Sized, Outcome>({
    most: largestGroup,
    atOnce: mostUnderWay,
    fits: fitsInto,
    run: (group) => this.#send(group),
    // Members may be given a lower limit: one that is too large fails alone.
    isOfOne: (error) => isTooLarge(Object(error).cause),
  });

  /** `counted`: a key that each group writes. */
  constructor(cluster: Cluster, counted: string, onGroup: ((size: number) => void) | undefined) {
    this.#cluster = cluster;
    this.#counted = counted;
    this.#onGroup = onGroup;
  }

  /** Rejects with a `StoreError` of code `UNAVAILABLE` if it is unknown whether it happened. */
  run(write: ConditionalWrite): Promise<Outcome> {
    return this.#groups.run({ ...write, bytes: write.isAlone ? Number.POSITIVE_INFINITY : bytesOf(write) });
  }

  async #send(group: Members): Promise<undefined> {
    const answer = await this.#cluster.transact(this.#requestOf(group.map(({ item }) => item)));
    const { header, isRepeated } = answer;
    for (const [n, { resolve }] of group.entries()) {
      const { succeeded, responses } = group.length === 1 ? answer : answer.responses[n]!.txn;
      const reads = succeeded ? [] : responses.map(({ range }) => range);
      resolve({ succeeded, revision: header.revision, reads, isRepeated });
    }
    this.#onGroup?.(group.length);
  }

  #requestOf(group: readonly ConditionalWrite[]): TxnRequest {
    const requests = group.map(({ compare, writes, reads }) => ({
      compare,
      success: writes,
      failure: reads.map((range) => ({ range })),
    }));
    const [request, ...others] = requests;
    if (!request || others.length > 0) return { success: this.#inside(requests) };
    const { compare, success } = request;
    if (success.length <= mostOperations) return request;
    const size = mostOperations - Math.max(compare.length, mostOperations / 2);
    const chunks = Array.from({ length: Math.ceil(success.length / size) }, (_, n) => ({
      success: success.slice(n * size, (n + 1) * size),
    }));
    return { ...request, success: this.#inside(chunks) };
  }

  /** Transactions inside another one. The quota of etcd counts what the outer one puts only; deletions need none. */
  #inside(
    requests: readonly { readonly compare?: readonly Compare[]; readonly success: readonly Write[] }[],
  ) {
    const isPut = requests.some(({ success }) => success.some((write) => 'put' in write));
    const counted = { put: { key: this.#counted, value: '' } };
    return [...requests.map((txn) => ({ txn })), ...(isPut ? [counted] : [])];
  }
}

/** Whether a write may share a transaction with others. */
const fitsInto = ({ to, bytes }: Sized, group: Members): boolean =>
  group.every(({ item }) => !item.to.some((name) => to.includes(name))) &&
  group.reduce((sum, { item }) => sum + item.bytes, bytes) <= largestBytes;

/** What a key or a value takes beside its content, in bytes, about. */
const around = 16;

const sizeOf = (text: string | Uint8Array = ''): number => around + Buffer.byteLength(text);

/** About how many bytes a write takes in a request. */
function bytesOf({ compare, writes, reads }: ConditionalWrite): number {
  let bytes = 0;
  for (const { key } of [...compare, ...reads]) bytes += sizeOf(key);
  // A deleted range has an end, too.
  for (const write of writes)
    if ('put' in write) bytes += sizeOf(write.put.key) + sizeOf(write.put.value);
    else bytes += 2 * sizeOf(write.delete.key);
  return bytes;
}
