import type { SendMessageRequest } from '@batonjs/protocol';

/**
 * Finds the id of the skill that a message is for; undefined if the message does not say. `extensions`: the URIs of the
 * extensions that are active for it.
 */
export type SkillOf = (request: SendMessageRequest, extensions: readonly string[]) => string | undefined;
