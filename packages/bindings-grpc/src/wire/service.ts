import type { ProtobufMethod, ProtobufVersion } from '@batonjs/bindings';
import { type OperationName, operations } from '@batonjs/protocol/operations';
import { type MessageType, messageTypes } from './message-types.ts';

/** `google.protobuf.Empty`, in which every table agrees. */
export const Empty: MessageType = messageTypes({ Empty: '' }).Empty;

/** A version of A2A as a service. */
export interface Service {
  /** `Major.Minor`. */
  readonly version: string;
  /** Its full name, such as `lf.a2a.v1.A2AService`. */
  readonly name: string;
  readonly methods: readonly Method[];
}

/** One method of a service. */
export interface Method {
  readonly operation: OperationName;
  readonly name: string;
  readonly path: string;
  readonly isStream: boolean;
  readonly request: MessageType;
  /** Of a stream: one event. */
  readonly response: MessageType;
  /** How its messages become those of 1.0; undefined if they are. */
  readonly translation: ProtobufMethod | undefined;
  /** How the text of a status says an error; as its message by default. */
  readonly errors?: ProtobufVersion['errors'];
}

/** The service of another version. Throws `TypeError` for a table that cannot be read. */
export function serviceOf({ version, package: packageName, service, ...table }: ProtobufVersion): Service {
  const types = messageTypes(table.messages, table.enums);
  const typeOf = (name: string): MessageType => {
    const type = name === 'Empty' ? Empty : types[name];
    if (!type) throw new TypeError(`The table of A2A ${version} has no message ${name}`);
    return type;
  };
  const fullName = `${packageName}.${service}`;
  const methods = table.methods.map((translation): Method => {
    const { operation, name, request, response } = translation;
    const isStream = operations[operation].kind === 'stream';
    const messages = { request: typeOf(request), response: typeOf(response) };
    const path = `/${fullName}/${name}`;
    return { operation, name, path, isStream, ...messages, translation, errors: table.errors };
  });
  return { version, name: fullName, methods };
}
