import type { StreamResponse } from '@batonjs/protocol';
import { isObject } from '@batonjs/protocol/json';
import type { Codec } from '../wire/codec.ts';
import type { V03Event } from '../wire/objects.ts';
import { type Loose, present, text } from '../wire/shape.ts';
import { message } from './message.ts';
import { artifactUpdate, statusUpdate, task } from './task.ts';

/** The members of an event of 1.0, each with its `kind` in 0.3. */
const members = [
  { kind: 'task', name: 'task', codec: task },
  { kind: 'message', name: 'message', codec: message },
  { kind: 'status-update', name: 'statusUpdate', codec: statusUpdate },
  { kind: 'artifact-update', name: 'artifactUpdate', codec: artifactUpdate },
] as const;

/** One event of a stream, the body of a webhook, or the answer to a message. One of an unknown kind has no members. */
export const event: Codec<V03Event, StreamResponse> = {
  decode(given, way, path) {
    if (!isObject(given)) throw new TypeError(`${path} is no object`);
    const [kind, value] = way.isLenient ? unwrapped(present(given)) : [given.kind, given];
    const member = members.find((one) => one.kind === kind);
    return (member ? { [member.name]: member.codec.decode(value, way, path) } : {}) as StreamResponse;
  },
  encode(newer, way, path) {
    const member = members.find(({ name }) => name in newer) ?? members[3];
    const codec: Codec<unknown, unknown> = member.codec;
    const value = codec.encode(Object(newer)[member.name], way, way.isProto ? member.name : path);
    return (way.isProto ? { [member.name]: value } : value) as V03Event;
  },
};

/** The kind of an event and the event: in the member of its kind, or with its `kind`, or with the members of one kind. */
function unwrapped(given: Loose): [kind: string | undefined, event: Loose] {
  const { task, message, msg, statusUpdate, artifactUpdate, kind, type, ...event } = given;
  const named = text(kind, type);
  if (named !== undefined) return [named, event];
  const wrapped = Object.entries({ task, message: message ?? msg, statusUpdate, artifactUpdate });
  for (const [name, value] of wrapped)
    if (isObject(value)) return [members.find((member) => member.name === name)?.kind, value];
  if (event.status) return [event.taskId ? 'status-update' : 'task', event];
  if (event.artifact) return ['artifact-update', event];
  return [(event.parts ?? event.content) ? 'message' : undefined, event];
}
