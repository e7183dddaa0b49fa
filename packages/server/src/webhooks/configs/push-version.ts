import { GENERATION, PREVIEW_VERSION, PROTOCOL_VERSION } from '@batonjs/protocol/headers';

/** The version in whose format a webhook gets its events: that of the request, with the extension that it activated. */
export const pushVersion = ({
  version,
  extensions,
}: {
  readonly version: string;
  readonly extensions: readonly string[];
}): string => (version === PROTOCOL_VERSION && extensions.includes(GENERATION) ? PREVIEW_VERSION : version);
