import { StoreError } from '@batonjs/store';
import {
  leaseGrantRequest,
  leaseRevokeRequest,
  noFields,
  type RangeRequest,
  type RangeResponse,
  type TxnRequest,
  type TxnResponse,
  txnRequest,
  txnResponse,
} from '../wire/messages.ts';
import type { Connections, Method } from './connections.ts';
import { isPassing, isTooLarge, translated } from './etcd-error.ts';

const txn: Method = { path: '/etcdserverpb.KV/Txn', request: txnRequest, response: txnResponse };
const grant: Method = {
  path: '/etcdserverpb.Lease/LeaseGrant',
  request: leaseGrantRequest,
  response: noFields,
};
const revoke: Method = {
  path: '/etcdserverpb.Lease/LeaseRevoke',
  request: leaseRevokeRequest,
  response: noFields,
};

/** How many members are tried within the time of a call, if none answers. */
const attempts = 4;

/** The longest pause before a call is sent again, in milliseconds. */
const longestPauseMs = 200;

/** What a transaction came to. */
export interface Answer {
  readonly response: TxnResponse;
  /** An earlier attempt got no answer, and may have been executed. */
  readonly isRepeated: boolean;
}

/** The most reads of one transaction. */
const mostReads = 99;

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
    const { answer, isRepeated } = await this.#call(txn, request);
    return { response: answer as TxnResponse, isRepeated };
  }

  /** Reads ranges, all of the same moment if there are at most 99. */
  async read(ranges: readonly RangeRequest[]): Promise<readonly RangeResponse[]> {
    const responses: RangeResponse[] = [];
    for (let start = 0; start < ranges.length; start += mostReads) {
      const some = ranges.slice(start, start + mostReads);
      const { response } = await this.transact({ success: some.map((range) => ({ range })) });
      responses.push(...response.responses.map(({ range }) => range!));
    }
    return responses;
  }

  /** Keys that are written under the lease vanish after so many seconds, unless they are taken off it. */
  async grantLease(ttl: number): Promise<number> {
    const id = 1 + Math.floor(Math.random() * (Number.MAX_SAFE_INTEGER - 1));
    await this.#call(grant, { ttl, id });
    return id;
  }

  /** Deletes the keys that are still written under the lease. */
  async revokeLease(id: number): Promise<void> {
    await this.#call(revoke, { id });
  }

  async #call(method: Method, request: object): Promise<{ answer: unknown; isRepeated: boolean }> {
    const { connections, timeoutMs } = this;
    const end = performance.now() + timeoutMs;
    for (let attempt = 0; ; attempt++) {
      const member = connections.current;
      const left = Math.min(end - performance.now(), Math.ceil(timeoutMs / attempts));
      try {
        return {
          answer: await connections.call(member, method, request, left),
          isRepeated: attempt > 0,
        };
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
