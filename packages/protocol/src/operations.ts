import type * as z from 'zod';
import type { OperationName, Operations } from './operation-table.ts';
import type { schemas } from './schemas.ts';

export * from './operation-table.ts';

/** The request of an operation. */
export type Params<Name extends OperationName> = z.infer<(typeof schemas)[Name]['params']>;

/** The result of an operation; of a stream, one event. */
export type Result<Name extends OperationName> = z.infer<(typeof schemas)[Name]['result']>;

/** What an operation returns: a promise, or a stream of events. */
export type Reply<Name extends OperationName> = Operations[Name]['kind'] extends 'stream'
  ? AsyncIterable<Result<Name>>
  : Promise<Result<Name>>;
