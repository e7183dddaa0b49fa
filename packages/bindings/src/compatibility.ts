import type { AgentCard, StreamResponse } from '@batonjs/protocol';
import type { ClientBinding, ServerBinding } from './binding.ts';
import type { HttpRequest } from './http.ts';

/** The body of a delivery to a webhook, in one version of the protocol. */
export interface PushFormat {
  /** `Major.Minor`. Webhooks that a request of this version registered get this format. */
  readonly version: string;
  /** The `Content-Type` of the body. */
  readonly mediaType: string;
  encode(event: StreamResponse): string;
}

/** Another version of the protocol that a server speaks besides 1.0. */
export interface ServerCompatibility {
  /** In the order of the card. A card of the user that lists interfaces has only those. */
  readonly bindings: readonly ServerBinding[];
  readonly pushFormat: PushFormat;
  /** The version that a request without one is taken for. Undefined means 0.3. Never throws. Spec: §3.6.2. */
  impliedVersion(request: HttpRequest): string | undefined;
  /** The card for a request of this version, or without one. Undefined if the card needs no change. */
  encodeCard(card: AgentCard, version: string | undefined): object | undefined;
}

/** Another version of the protocol that a client speaks besides 1.0. */
export interface ClientCompatibility {
  readonly bindings: readonly ClientBinding[];
  /** A card of that version as a card of 1.0. Undefined for other JSON. */
  decodeCard(json: unknown): AgentCard | undefined;
  /** The body of a delivery to a webhook in that version, as an event of 1.0. Undefined for other JSON. */
  decodePush(json: unknown): StreamResponse | undefined;
}
