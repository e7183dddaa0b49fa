import type { Json } from '@batonjs/protocol';

/** The members of a part, of which it has one of the first four. All can be read. */
export interface PartMembers {
  readonly text?: string;
  readonly raw?: string;
  readonly url?: string;
  readonly data?: Json;
  readonly filename?: string;
  readonly mediaType?: string;
}
