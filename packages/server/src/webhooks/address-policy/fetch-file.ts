import { A2AError } from '@batonjs/protocol/errors';
import { AddressRefused } from './address-policy.ts';
import { type SafeFetchOptions, safeFetch } from './safe-fetch.ts';

/** The servers that files may be fetched from, and the bounds. `maxBytes` is 10 MiB by default, `timeoutMs` 30,000. */
export type FetchFileOptions = Omit<SafeFetchOptions, 'method' | 'body'>;

/** A file that was fetched. */
export interface FetchedFile {
  readonly bytes: Uint8Array;
  /** The content type of the reply, without parameters. */
  readonly mediaType?: string;
}

/**
 * Fetches the file of a message's `url` part; refuses addresses inside this network. Throws `INVALID_PARAMS` with a
 * message that clients may see; the full error is its `cause`. Spec: §14.1.1.
 */
export async function fetchFile(url: string, options: FetchFileOptions = {}): Promise<FetchedFile> {
  try {
    const response = await safeFetch(url, { timeoutMs: 30_000, maxBytes: 10 * 1024 * 1024, ...options });
    if (!response.ok) throw new Error(`Its server answered ${response.status}`);
    const mediaType = response.headers.get('content-type')?.split(';', 1)[0]?.trim();
    return { bytes: await response.bytes(), ...(mediaType && { mediaType }) };
  } catch (cause) {
    const why = AddressRefused.is(cause) ? `its URL ${cause.message}` : 'its server did not deliver it';
    throw new A2AError('INVALID_PARAMS', `The file cannot be fetched: ${why}`, { cause });
  }
}
