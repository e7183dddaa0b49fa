import {
  methodName,
  type OperationName,
  operationNames,
  operations,
  type Params,
  type Reply,
} from '@batonjs/protocol/operations';
import type { Session } from './connection/session.ts';
import type { CallOptions } from './options/connect-options.ts';

/** The arguments of an operation's method. Params without required members are optional. */
type Arguments<Name extends OperationName> =
  Record<never, never> extends Params<Name>
    ? [params?: Params<Name>, options?: CallOptions]
    : [params: Params<Name>, options?: CallOptions];

/**
 * The operations of A2A as methods. They fill in `tenant` from the card. They reject with an `A2AError` if the agent
 * answers with an error, and with a `ClientError` if the call fails on the client's side. A stream opens when you
 * iterate it. Spec: §5.3.
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

async function* events(session: Session, ...call: Parameters<Session['stream']>) {
  for await (const { event } of session.stream(...call)) yield event;
}
