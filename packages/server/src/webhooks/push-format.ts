import type { PushFormat } from '@batonjs/bindings';
import { A2A_JSON, PREVIEW_VERSION, PROTOCOL_VERSION } from '@batonjs/protocol/headers';

/** The format of A2A 1.0. Spec: §4.3.3. */
export const pushFormat: PushFormat = {
  version: PROTOCOL_VERSION,
  mediaType: A2A_JSON,
  encode: (event) => JSON.stringify(event),
};

/** The same with the extension of 1.1: its events have their generation already. */
export const previewFormat: PushFormat = { ...pushFormat, version: PREVIEW_VERSION };
