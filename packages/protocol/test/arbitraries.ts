import fc from 'fast-check';
import type { Message, Part, SendMessageRequest, StreamResponse, Struct, Task } from '../src/index.ts';

const id = fc.string({ minLength: 1, maxLength: 12 });
const text = fc.string({ maxLength: 20 });
const json = fc.jsonValue({ maxDepth: 3 }).map(withoutMinusZero);
const struct: fc.Arbitrary<Struct> = fc.dictionary(fc.string({ maxLength: 6 }), json, {
  maxKeys: 3,
  noNullPrototype: true,
});
const timestamp = fc
  .date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());
const url = fc.webUrl();

/** A record whose optional members may be missing, but are never `undefined`. */
const record = <T, Required extends keyof T>(
  members: { [Name in keyof T]: fc.Arbitrary<T[Name]> },
  ...requiredKeys: Required[]
) => fc.record(members, { requiredKeys, noNullPrototype: true });

const attributes = record({ metadata: struct, filename: id, mediaType: id });
const content = fc.oneof(
  fc.record({ text }),
  fc.record({ raw: fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString('base64')) }),
  fc.record({ url }),
  fc.record({ data: json }),
);
const part = fc.tuple(content, attributes).map(([one, rest]) => ({ ...one, ...rest }) as Part);
const parts = fc.array(part, { minLength: 1, maxLength: 3 });

const message = record(
  {
    messageId: id,
    role: fc.constantFrom('ROLE_USER', 'ROLE_AGENT'),
    parts,
    contextId: id,
    taskId: id,
    metadata: struct,
    extensions: fc.array(url, { maxLength: 2 }),
    referenceTaskIds: fc.array(id, { maxLength: 2 }),
  },
  'messageId',
  'role',
  'parts',
) as fc.Arbitrary<Message>;

const historyLength = fc.nat(1_000);
const pushConfig = record(
  { id, url, token: id, authentication: record({ scheme: id, credentials: id }, 'scheme') },
  'url',
);

/** Requests in canonical form. */
export const sendMessageRequest = record(
  {
    message,
    tenant: id,
    metadata: struct,
    configuration: record({
      acceptedOutputModes: fc.array(text, { maxLength: 2 }),
      historyLength,
      returnImmediately: fc.boolean(),
      taskPushNotificationConfig: pushConfig,
    }),
  },
  'message',
) as fc.Arbitrary<SendMessageRequest>;

const state = fc.constantFrom('TASK_STATE_SUBMITTED', 'TASK_STATE_COMPLETED', 'TASK_STATE_AUTH_REQUIRED');
const status = record({ state, message, timestamp }, 'state');
const artifact = record(
  { artifactId: id, parts, name: id, description: id, metadata: struct, extensions: fc.array(url) },
  'artifactId',
  'parts',
);
const task = record(
  { id, contextId: id, status, artifacts: fc.array(artifact), history: fc.array(message), metadata: struct },
  'id',
  'status',
) as fc.Arbitrary<Task>;

/** Stream events in canonical form. */
export const streamResponse = fc.oneof(
  fc.record({ task }),
  fc.record({ message }),
  fc.record({
    statusUpdate: record(
      { taskId: id, contextId: id, status, metadata: struct },
      'taskId',
      'contextId',
      'status',
    ),
  }),
  fc.record({
    artifactUpdate: record(
      {
        taskId: id,
        contextId: id,
        artifact,
        append: fc.boolean(),
        lastChunk: fc.boolean(),
        metadata: struct,
      },
      'taskId',
      'contextId',
      'artifact',
    ),
  }),
) as fc.Arbitrary<StreamResponse>;

/** Members with free content, whose names must not be respelled. */
const opaque = new Set(['metadata', 'data', 'params', 'header']);

/** The same value in another spelling that ProtoJSON allows; the choices say which. */
export function spellLoosely(value: unknown, choices: Iterator<number>): unknown {
  const chosen = () => choices.next().value as number;
  if (Array.isArray(value)) return value.map((element) => spellLoosely(element, choices));
  if (typeof value !== 'object' || value === null) return value;
  const result: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const snakeCase = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const spelled = opaque.has(name) ? member : spellMember(name, spellLoosely(member, choices), chosen());
    result[chosen() === 0 ? snakeCase : name] = spelled;
  }
  if (chosen() === 0) result.unknownMember = { a: 1 };
  for (const absent of ['tenant', 'metadata', 'contextId', 'configuration']) {
    if (!(absent in value) && chosen() === 0) result[absent] = null;
  }
  return result;
}

function spellMember(name: string, member: unknown, choice: number): unknown {
  if (name === 'role' && choice > 1) return member === 'ROLE_USER' ? 1 : 2;
  if (name === 'historyLength' && choice > 1) return String(member);
  if (name === 'raw' && choice > 1) {
    const unpadded = (member as string).replaceAll('=', '');
    return choice === 2 ? unpadded : unpadded.replaceAll('+', '-').replaceAll('/', '_');
  }
  return member;
}

/** JSON has no minus zero. */
function withoutMinusZero<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
