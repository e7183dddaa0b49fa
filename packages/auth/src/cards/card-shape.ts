import { a2aMessages, protoFields } from '@batonjs/protocol/proto-messages';

/** The type of a member of a card. `json` is free JSON, which is signed unchanged. */
export type Kind =
  | 'text'
  | 'flag'
  | 'json'
  | { readonly message: Shape }
  | { readonly list: Kind }
  | { readonly map: Kind };

/**
 * When a member is signed: `always`, with its default if it is missing; `ifSet`, if present, even with its default;
 * `ifMore`, only if it differs from its default. Spec: §8.4.1.
 */
export type Presence = 'always' | 'ifSet' | 'ifMore';

/** The members of a message, by name. */
export type Shape = Readonly<Record<string, readonly [presence: Presence, kind: Kind]>>;

const plain: Readonly<Record<string, Kind>> = { string: 'text', bool: 'flag', Struct: 'json' };

function shapeOf(message: keyof typeof a2aMessages): Shape {
  const members = protoFields(message, a2aMessages[message]).map(
    ({ jsonName, typeName, label, isRequired, isOptional, oneof }) => {
      const each = plain[typeName] ?? { message: shapeOf(typeName as keyof typeof a2aMessages) };
      const kind = label === 'list' ? { list: each } : label === 'map' ? { map: each } : each;
      // A message, and free JSON, which is one in the proto, has presence by itself.
      const hasPresence = isOptional || oneof !== undefined || (label === 'single' && !isValue(each));
      return [jsonName, [isRequired ? 'always' : hasPresence ? 'ifSet' : 'ifMore', kind]] as const;
    },
  );
  return Object.fromEntries(members);
}

const isValue = (kind: Kind): boolean => kind === 'text' || kind === 'flag';

const { signatures: _, ...signed } = shapeOf('AgentCard');

/** The members of a card that a signature covers: all of A2A 1.0 except `signatures`. Spec: §4.4.1, §8.4.1. */
export const cardShape: Shape = signed;
