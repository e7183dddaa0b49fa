import type { MessageType } from './codec.ts';

// The fields of etcd's API v3 that the store uses, by their numbers:
// https://github.com/etcd-io/etcd/blob/main/api/etcdserverpb/rpc.proto

const responseHeader: MessageType = [['revision', 3, 'number']];
const keyValue: MessageType = [
  ['key', 1, 'bytes'],
  ['modRevision', 3, 'number'],
  ['value', 5, 'bytes'],
];

const rangeRequest: MessageType = [
  ['key', 1, 'bytes'],
  ['rangeEnd', 2, 'bytes'],
  ['limit', 3, 'number'],
  ['revision', 4, 'number'],
  ['keysOnly', 8, 'boolean'],
  ['countOnly', 9, 'boolean'],
];
const putRequest: MessageType = [
  ['key', 1, 'bytes'],
  ['value', 2, 'bytes'],
  ['lease', 3, 'number'],
  ['ignoreValue', 5, 'boolean'],
];
const deleteRequest: MessageType = [
  ['key', 1, 'bytes'],
  ['rangeEnd', 2, 'bytes'],
];
const compare: MessageType = [
  ['result', 1, 'number'],
  ['target', 2, 'number'],
  ['key', 3, 'bytes'],
  ['createRevision', 5, 'number'],
  ['modRevision', 6, 'number'],
  ['value', 7, 'bytes'],
  ['rangeEnd', 64, 'bytes'],
];

// Operations hold transactions, which hold operations.
const requestOp: (readonly [string, number, MessageType])[] = [
  ['range', 1, rangeRequest],
  ['put', 2, putRequest],
  ['delete', 3, deleteRequest],
];
export const txnRequest: MessageType = [
  ['compare', 1, compare, 'many'],
  ['success', 2, requestOp, 'many'],
  ['failure', 3, requestOp, 'many'],
];
requestOp.push(['txn', 4, txnRequest]);

const rangeResponse: MessageType = [
  ['kvs', 2, keyValue, 'many'],
  ['count', 4, 'number'],
];
const responseOp: (readonly [string, number, MessageType])[] = [['range', 1, rangeResponse]];
export const txnResponse: MessageType = [
  ['header', 1, responseHeader],
  ['succeeded', 2, 'boolean'],
  ['responses', 3, responseOp, 'many'],
];
responseOp.push(['txn', 4, txnResponse]);

export const leaseGrantRequest: MessageType = [
  ['ttl', 1, 'number'],
  ['id', 2, 'number'],
];
export const leaseRevokeRequest: MessageType = [['id', 1, 'number']];
export const authenticateRequest: MessageType = [
  ['name', 1, 'bytes'],
  ['password', 2, 'bytes'],
];
export const authenticateResponse: MessageType = [['token', 2, 'bytes']];
export const noFields: MessageType = [];

export const watchRequest: MessageType = [
  [
    'create',
    1,
    [
      ['key', 1, 'bytes'],
      ['rangeEnd', 2, 'bytes'],
      ['startRevision', 3, 'number'],
      ['progressNotify', 4, 'boolean'],
      ['filters', 5, 'number', 'many'],
      ['watchId', 7, 'number'],
    ],
  ],
  ['cancel', 2, [['watchId', 1, 'number']]],
];
export const watchResponse: MessageType = [
  ['header', 1, responseHeader],
  ['watchId', 2, 'number'],
  ['created', 3, 'boolean'],
  ['canceled', 4, 'boolean'],
  ['compactRevision', 5, 'number'],
  ['cancelReason', 6, 'bytes'],
  ['events', 11, [['kv', 2, keyValue]], 'many'],
];

/** A key as it was read. */
export interface KeyValue {
  readonly key: Buffer;
  readonly modRevision: number;
  /** Absent if it is empty. */
  readonly value?: Buffer;
}

export interface RangeRequest {
  readonly key: string;
  readonly rangeEnd?: string;
  readonly limit?: number;
  /** The state of the keys at this revision. */
  readonly revision?: number;
  readonly keysOnly?: boolean;
  readonly countOnly?: boolean;
}

export interface PutRequest {
  readonly key: string;
  readonly value?: string | Uint8Array;
  readonly lease?: number;
  /** Keeps the value, and changes the lease. */
  readonly ignoreValue?: boolean;
}

/** One operation of a transaction. */
export type RequestOp =
  | { readonly range: RangeRequest }
  | { readonly put: PutRequest }
  | { readonly delete: { readonly key: string; readonly rangeEnd?: string } }
  | { readonly txn: TxnRequest };

export interface Compare {
  /** EQUAL is 0, LESS is 2. */
  readonly result: 0 | 2;
  /** CREATE is 1, MOD is 2, VALUE is 3. */
  readonly target: 1 | 2 | 3;
  readonly key: string;
  readonly rangeEnd?: string;
  readonly createRevision?: number;
  readonly modRevision?: number;
  readonly value?: string;
}

export interface TxnRequest {
  readonly compare?: readonly Compare[];
  readonly success: readonly RequestOp[];
  readonly failure?: readonly RequestOp[];
}

export interface RangeResponse {
  readonly kvs: readonly KeyValue[];
  readonly count?: number;
}

export interface ResponseOp {
  readonly range?: RangeResponse;
  readonly txn?: TxnResponse;
}

export interface TxnResponse {
  readonly header?: { readonly revision: number };
  readonly succeeded?: boolean;
  readonly responses: readonly ResponseOp[];
}

export interface WatchResponse {
  readonly header: { readonly revision: number };
  /** Absent for 0. */
  readonly watchId?: number;
  readonly created?: boolean;
  readonly canceled?: boolean;
  /** Where the log of revisions begins, if the watch asked for an older one. */
  readonly compactRevision?: number;
  readonly cancelReason?: Buffer;
  readonly events: readonly { readonly kv: KeyValue }[];
}
