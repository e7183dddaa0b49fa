import { Message, type ReceivedOf, type SentOf } from './codec.ts';

// The fields of etcd's API v3 that the store uses, by their numbers:
// https://github.com/etcd-io/etcd/blob/main/api/etcdserverpb/rpc.proto

const responseHeader = new Message({ revision: [3, 'number'] });
const keyValue = new Message({ key: [1, 'bytes'], modRevision: [3, 'number'], value: [5, 'bytes'] });

const rangeRequest = new Message({
  key: [1, 'bytes'],
  rangeEnd: [2, 'bytes'],
  limit: [3, 'number'],
  // The state of the keys at this revision.
  revision: [4, 'number'],
  keysOnly: [8, 'boolean'],
  countOnly: [9, 'boolean'],
});
const putRequest = new Message({
  key: [1, 'bytes'],
  value: [2, 'bytes'],
  lease: [3, 'number'],
  // Keeps the value, and changes the lease.
  ignoreValue: [5, 'boolean'],
});
const compare = new Message({
  // EQUAL is 0, LESS is 2.
  result: [1, 'number'],
  // MOD is 2, VALUE is 3.
  target: [2, 'number'],
  key: [3, 'bytes'],
  modRevision: [6, 'number'],
  value: [7, 'bytes'],
});
const operations = {
  range: [1, rangeRequest],
  put: [2, putRequest],
  delete: [3, new Message({ key: [1, 'bytes'], rangeEnd: [2, 'bytes'] })],
} as const;
const operation = new Message(operations);
const innerRequest = new Message({
  compare: [1, compare, 'many'],
  success: [2, operation, 'many'],
  failure: [3, operation, 'many'],
});
const txnRequest = new Message({
  compare: [1, compare, 'many'],
  success: [2, new Message({ ...operations, txn: [4, innerRequest] }), 'many'],
  failure: [3, operation, 'many'],
});

const rangeResponse = new Message({ kvs: [2, keyValue, 'many'], count: [4, 'number'] });
const innerResponse = new Message({
  succeeded: [2, 'boolean'],
  responses: [3, new Message({ range: [1, rangeResponse] }), 'many'],
});
const txnResponse = new Message({
  header: [1, responseHeader],
  succeeded: [2, 'boolean'],
  responses: [3, new Message({ range: [1, rangeResponse], txn: [4, innerResponse] }), 'many'],
});

const watchRequest = new Message({
  create: [
    1,
    new Message({
      key: [1, 'bytes'],
      rangeEnd: [2, 'bytes'],
      startRevision: [3, 'number'],
      progressNotify: [4, 'boolean'],
      filters: [5, 'number', 'many'],
      watchId: [7, 'number'],
    }),
  ],
  cancel: [2, new Message({ watchId: [1, 'number'] })],
});
const watchResponse = new Message({
  header: [1, responseHeader],
  watchId: [2, 'number'],
  created: [3, 'boolean'],
  canceled: [4, 'boolean'],
  // Where the log of revisions begins, if the watch asked for an older one.
  compactRevision: [5, 'number'],
  cancelReason: [6, 'bytes'],
  events: [11, new Message({ kv: [2, keyValue] }), 'many'],
});

/** A method of etcd's API. */
export interface Method<Request, Response> {
  readonly path: string;
  readonly request: { encode(value: Request): Buffer };
  readonly response: { decode(bytes: Uint8Array): Response };
}

const of = <Request, Response>(
  name: string,
  request: Method<Request, Response>['request'],
  response: Method<Request, Response>['response'],
): Method<Request, Response> => ({ path: `/etcdserverpb.${name}`, request, response });

const nothing = new Message({});
const login = new Message({ name: [1, 'bytes'], password: [2, 'bytes'] });
const leaseGrant = new Message({ ttl: [1, 'number'], id: [2, 'number'] });

/** The methods of etcd's API that the store calls. */
export const methods = {
  txn: of('KV/Txn', txnRequest, txnResponse),
  grant: of('Lease/LeaseGrant', leaseGrant, nothing),
  revoke: of('Lease/LeaseRevoke', new Message({ id: [1, 'number'] }), nothing),
  authenticate: of('Auth/Authenticate', login, new Message({ token: [2, 'bytes'] })),
  watch: of('Watch/Watch', watchRequest, watchResponse),
};

/** A key as it was read. */
export type KeyValue = ReceivedOf<typeof keyValue>;

/** Keys of requests are texts. */
type Keyed<Request> = Omit<Request, 'key' | 'rangeEnd'> & {
  readonly key: string;
  readonly rangeEnd?: string;
};
export type RangeRequest = Keyed<SentOf<typeof rangeRequest>>;
export type Compare = Keyed<SentOf<typeof compare>>;
/** An operation of a transaction that changes something. */
export type Write =
  | { readonly put: Keyed<SentOf<typeof putRequest>> }
  | { readonly delete: Pick<RangeRequest, 'key' | 'rangeEnd'> };

export type TxnRequest = SentOf<typeof txnRequest>;
export type TxnResponse = ReceivedOf<typeof txnResponse>;
export type RangeResponse = ReceivedOf<typeof rangeResponse>;
export type WatchRequest = SentOf<typeof watchRequest>;
export type WatchResponse = ReceivedOf<typeof watchResponse>;
