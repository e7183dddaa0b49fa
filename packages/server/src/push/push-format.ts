import type { StreamResponse } from '@batonjs/protocol';
import { A2A_JSON, PROTOCOL_VERSION } from '@batonjs/protocol/headers';

/** How updates look in the body of a delivery, in one version of the protocol. */
export interface PushFormat {
  /** `Major.Minor`. Webhooks that were registered by a request of this version get this format. */
  readonly version: string;
  /** The `Content-Type` of the body. */
  readonly mediaType: string;
  encode(event: StreamResponse): string;
}

/** The format of A2A 1.0. Spec: §4.3.3. */
export const pushFormat: PushFormat = {
  version: PROTOCOL_VERSION,
  mediaType: A2A_JSON,
  encode: (event) => JSON.stringify(event),
};
