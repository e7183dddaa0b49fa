import type { AgentCard, StreamResponse } from '@batonjs/protocol';
import type { ClientBinding, ServerBinding } from './binding.ts';
import type { HttpRequest } from './http.ts';

/** How updates look in the body of a delivery to a webhook, in one version of the protocol. */
export interface PushFormat {
  /** `Major.Minor`. Webhooks that were registered by a request of this version get this format. */
  readonly version: string;
  /** The `Content-Type` of the body. */
  readonly mediaType: string;
  encode(event: StreamResponse): string;
}

/** Another version of the protocol that a server speaks besides 1.0. */
export interface ServerCompatibility {
  /** In the order of the card; a card that lists interfaces itself has only those that it lists. */
  readonly bindings: readonly ServerBinding[];
  readonly pushFormat: PushFormat;
  /** The version of a request that names none, if it shows; otherwise it is 0.3. Never throws. Spec: §3.6.2. */
  impliedVersion(request: HttpRequest): string | undefined;
  /** The card for a request of this version (none: it names none), or undefined if the card is right as it is. */
  encodeCard(card: AgentCard, version: string | undefined): object | undefined;
}

/** Another version of the protocol that a client speaks besides 1.0. */
export interface ClientCompatibility {
  readonly bindings: readonly ClientBinding[];
  /** A card of that version in the words of 1.0, or undefined if the JSON is none. */
  decodeCard(json: unknown): AgentCard | undefined;
  /** The body of a delivery to a webhook in that version, in the words of 1.0; undefined if the JSON is none. */
  decodePush(json: unknown): StreamResponse | undefined;
}
