import { StoreError } from '@batonjs/store';
import { Group, type Grouped } from '@batonjs/store/adapter';
import {
  type Compare,
  type KeyValue,
  type Method,
  methods,
  type RangeRequest,
  type RangeResponse,
  type TxnRequest,
  type TxnResponse,
  type Write,
} from '../wire/messages.ts';
import { type Connections, isPassing, isTooLarge, translated } from './connections.ts';

/** How many members are tried within the time of a call, if none answers. */
const attempts = 4;

/** The longest pause before a call is sent again, in milliseconds. */
const longestPauseMs = 200;

/** The most reads of one transaction. */
const mostReads = 99;

/** What a transaction came to. */
interface Answer extends TxnResponse {
  /** An earlier attempt got no answer, and may have been executed. */
  readonly isRepeated: boolean;
}

/** Sends calls to a cluster, to one member after another until one answers. */
export class Cluster {
  readonly connections: Connections;
  readonly timeoutMs: number;

  constructor(connections: Connections, timeoutMs: number) {
    this.connections = connections;
    this.timeoutMs = timeoutMs;
  }

  /**
   * Runs a transaction that may be sent twice: it writes nothing, or compares what its writes change. Rejects with a
   * `StoreError`.
   */
  async transact(request: TxnRequest): Promise<Answer> {
    const { answer, isRepeated } = await this.#call(methods.txn, request);
    return { ...answer, isRepeated };
  }

  /** Reads ranges, all of the same moment if there are at most 99. */
  async read<const Ranges extends readonly RangeRequest[]>(
    ranges: Ranges,
  ): Promise<{ readonly [Index in keyof Ranges]: RangeResponse }> {
    const read: RangeResponse[] = [];
    for (let start = 0; start < ranges.length; start += mostReads) {
      const some = ranges.slice(start, start + mostReads);
      const { responses } = await this.transact({ success: some.map((range) => ({ range })) });
      read.push(...responses.map(({ range }) => range));
    }
    return read as { readonly [Index in keyof Ranges]: RangeResponse };
  }

  /** A key as it is now. */
  async get(key: string): Promise<KeyValue | undefined> {
    const [{ kvs }] = await this.read([{ key }]);
    return kvs[0];
  }

  /** The first key of a range for each item, all of the same moment as `read` has it. */
  async getEach<Item>(
    items: readonly Item[],
    rangeOf: (item: Item) => RangeRequest,
  ): Promise<(readonly [item: Item, kept: KeyValue | undefined])[]> {
    const read = await this.read(items.map(rangeOf));
    return items.map((item, n) => [item, read[n]?.kvs[0]]);
  }

  /** Keys that are written under the lease vanish after so many seconds, unless they are taken off it. */
  async grantLease(ttl: number): Promise<number> {
    const id = 1 + Math.floor(Math.random() * (Number.MAX_SAFE_INTEGER - 1));
    await this.#call(methods.grant, { ttl, id });
    return id;
  }

  /** Deletes the keys that are still written under the lease. */
  async revokeLease(id: number): Promise<void> {
    await this.#call(methods.revoke, { id });
  }

  async #call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
  ): Promise<{ readonly answer: Response; readonly isRepeated: boolean }> {
    const { connections, timeoutMs } = this;
    const end = performance.now() + timeoutMs;
    for (let attempt = 0; ; attempt++) {
      const member = connections.current;
      const left = Math.min(end - performance.now(), Math.ceil(timeoutMs / attempts));
      try {
        return { answer: await connections.call(member, method, request, left), isRepeated: attempt > 0 };
      } catch (error) {
        const pauseMs = Math.min(longestPauseMs, 10 * 2 ** attempt);
        if (attempt > 0 && isTooLarge(error)) {
          const why = 'A member takes smaller requests than another one, which may have executed this one';
          throw new StoreError('UNAVAILABLE', `${connections.name}: ${why}`);
        }
        if (!isPassing(error) || performance.now() + pauseMs >= end)
          throw translated(connections.name, error);
        connections.leave(member);
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  }
}

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

/** Rejects with a `StoreError` of code `UNAVAILABLE` if it is unknown whether it happened. */
export type WriteGroups = (write: ConditionalWrite) => Promise<Outcome>;

/**
 * Writes that arrive together share a transaction of etcd. Each is a transaction inside it with comparisons of its own,
 * so that one fails alone. `counted`: a key that each group writes.
 */
export function writeGroups(
  cluster: Cluster,
  counted: string,
  onGroup: ((size: number) => void) | undefined,
): WriteGroups {
  async function send(group: Members): Promise<undefined> {
    const answer = await cluster.transact(requestOf(group.map(({ item }) => item)));
    const { header, isRepeated } = answer;
    for (const [n, { resolve }] of group.entries()) {
      const { succeeded, responses } = group.length === 1 ? answer : answer.responses[n]!.txn;
      const reads = succeeded ? [] : responses.map(({ range }) => range);
      resolve({ succeeded, revision: header.revision, reads, isRepeated });
    }
    onGroup?.(group.length);
  }

  function requestOf(group: readonly ConditionalWrite[]): TxnRequest {
    const requests = group.map(({ compare, writes, reads }) => ({
      compare,
      success: writes,
      failure: reads.map((range) => ({ range })),
    }));
    const [request, ...others] = requests;
    if (!request || others.length > 0) return { success: inside(requests) };
    const { compare, success } = request;
    if (success.length <= mostOperations) return request;
    const size = mostOperations - Math.max(compare.length, mostOperations / 2);
    const chunks = Array.from({ length: Math.ceil(success.length / size) }, (_, n) => ({
      success: success.slice(n * size, (n + 1) * size),
    }));
    return { ...request, success: inside(chunks) };
  }

  /** Transactions inside another one. The quota of etcd counts what the outer one puts only; deletions need none. */
  function inside(
    requests: readonly { readonly compare?: readonly Compare[]; readonly success: readonly Write[] }[],
  ) {
    const isPut = requests.some(({ success }) => success.some((write) => 'put' in write));
    return [...requests.map((txn) => ({ txn })), ...(isPut ? [{ put: { key: counted, value: '' } }] : [])];
  }

  const groups = new Group<Sized, Outcome>({
    most: largestGroup,
    atOnce: mostUnderWay,
    fits: fitsInto,
    run: send,
    // Members may be given a lower limit: one that is too large fails alone.
    isOfOne: (error) => isTooLarge(Object(error).cause),
  });
  return (write) =>
    groups.run({ ...write, bytes: write.isAlone ? Number.POSITIVE_INFINITY : bytesOf(write) });
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
