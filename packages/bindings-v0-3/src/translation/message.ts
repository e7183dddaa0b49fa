import type { Artifact, Message } from '@batonjs/protocol';
import type { V03Artifact, V03Message } from '../wire/objects.ts';
import { ifObject, mapped } from '../wire/shape.ts';
import { downPart, upPart } from './part.ts';

/** From 0.3. */
export const upMessage = (message: V03Message): Message =>
  ifObject(message, ({ kind: _, role, parts, ...rest }) => ({
    ...rest,
    // An unknown role is not passed on: a role of 1.0 is not valid in 0.3.
    role: Object.hasOwn(roles, role) ? roles[role] : ('ROLE_UNSPECIFIED' as never),
    parts: mapped(parts, upPart),
  }));

/** To 0.3. */
export const downMessage = ({ role, parts, ...rest }: Message): V03Message => ({
  kind: 'message',
  ...rest,
  role: role === 'ROLE_USER' ? 'user' : 'agent',
  parts: mapped(parts, downPart),
});

const roles = { user: 'ROLE_USER', agent: 'ROLE_AGENT' } as const;

/** From 0.3. */
export const upArtifact = (artifact: V03Artifact): Artifact =>
  ifObject(artifact, ({ parts, ...rest }) => ({ ...rest, parts: mapped(parts, upPart) }));

/** To 0.3. */
export const downArtifact = (artifact: Artifact): V03Artifact => ({
  ...artifact,
  parts: mapped(artifact.parts, downPart),
});
