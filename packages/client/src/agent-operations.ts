import { IMPLIED_VERSION } from '@batonjs/protocol/headers';
import {
  methodName,
  type OperationName,
  operationNames,
  operations,
  type Params,
  type Reply,
} from '@batonjs/protocol/operations';
import type { Session, StreamOptions } from './connection/session.ts';
import { wholeTask } from './following/task-source.ts';
import type { CallOptions } from './options/connect-options.ts';

/** The arguments of an operation's method. Params without required members are optional. */
type Arguments<Name extends OperationName> =
  Record<never, never> extends Params<Name>
    ? [params?: Params<Name>, options?: CallOptions]
    : [params: Params<Name>, options?: CallOptions];

/**
 * The operations of A2A as methods. They fill in `tenant` from the card. They reject with an `A2AError` if the agent
 * answers with an error, and with a `ClientError` if the call fails on the client's side. A stream opens when you
 * iterate it. The stream of `subscribeToTask` begins with the task. An agent of A2A 0.3 sends only what comes next: the
 * client then reads the task at the first update, and the stream fails if that fails. Spec: §5.3.
 */
export type AgentOperations = {
  readonly [Name in OperationName as Uncapitalize<Name>]: (...args: Arguments<Name>) => Reply<Name>;
};

/** Creates one method per row of the operation table. */
export const agentOperations = (session: Session): AgentOperations => {
  const method =
    (name: OperationName) =>
    (params: Readonly<Record<string, unknown>> = {}, options?: CallOptions) =>
      operations[name].kind === 'stream'
        ? events(session, name, params, options)
        : session.call(name, params, options);
  const methods: Record<string, unknown> = {};
  for (const name of operationNames) methods[methodName(name)] = method(name);
  return methods as AgentOperations;
};

async function* events(
  session: Session,
  name: OperationName,
  params: Readonly<Record<string, unknown>>,
  options?: StreamOptions,
) {
  const events = session.stream(name, params, options);
  // Those of 0.3 begin with the next update, where those of 1.0 begin with the task. Spec: §3.1.6.
  const isOlder = name === 'SubscribeToTask' && session.version === IMPLIED_VERSION;
  for await (const { event } of isOlder ? wholeTask(session, params.id as string, events, options) : events) {
    // Empty until the task is read.
    if (!isOlder || Object.keys(event).length > 0) yield event;
  }
}
