import { StoreError } from '@batonjs/store';
import {
  type KeyValue,
  type Method,
  methods,
  type RangeRequest,
  type RangeResponse,
  type TxnRequest,
  type TxnResponse,
} from '../wire/messages.ts';
import { type Connections, isPassing, isTooLarge, translated } from './connections.ts';

/** How many members are tried within the time of a call, if none answers. */
const attempts = 4;

/** The longest pause before a call is sent again, in milliseconds. */
const longestPauseMs = 200;

/** The most reads of one transaction. */
const mostReads = 99;

/** What a transaction came to. */
export interface Answer extends TxnResponse {
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
