import type * as protocol from '@batonjs/protocol';
import type { a2aMessages, previewFields } from '@batonjs/protocol/proto-messages';

type Table = typeof a2aMessages;
type Preview = typeof previewFields;

type Protocol = typeof protocol;

/** A message as the protocol has it. One that it does not have counts as a member that is missing. */
type MessageOf<Name extends keyof Table> = Name extends 'StringList'
  ? { list: unknown }
  : Name extends 'TaskPushNotificationConfig'
    ? protocol.TaskPushNotificationConfig | protocol.CreateTaskPushNotificationConfigRequest
    : Name extends keyof Protocol
      ? Protocol[Name]['_zod']['output']
      : Record<`${Name} is no message`, unknown>;

type Camel<Name extends string> = Name extends `${infer Word}_${infer Rest}`
  ? `${Word}${Capitalize<Camel<Rest>>}`
  : Name;

type MemberOf<Row extends string> = Row extends `${string} ${infer Name} ${string}` ? Camel<Name> : never;

/** The members of a row of the table. */
type MembersIn<Text extends string> = Text extends `${infer Row}, ${infer Rest}`
  ? MemberOf<Row> | MembersIn<Rest>
  : MemberOf<Text>;

type Added<Name> = Name extends keyof Preview ? MembersIn<Preview[Name]> : never;

type KeysOf<Message> = Message extends unknown ? keyof Message : never;

/** The members that a message of the protocol has and its row of the table has not. */
export type MissingMembers = {
  [Name in keyof Table]: Exclude<KeysOf<MessageOf<Name>>, MembersIn<Table[Name]> | Added<Name>>;
}[keyof Table];

/** Compiles for nothing only. */
export type Nothing<None extends never> = None;
