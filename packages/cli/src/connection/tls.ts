import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { usage } from '../errors/cli-error.ts';
import type { CommonOptions } from '../flags/agent-flags.ts';

/** Certificates in PEM. */
export interface TlsFiles {
  readonly cert?: string;
  readonly key?: string;
  readonly ca?: string;
}

/** Reads the certificates that the flags name. Throws if a file cannot be read or used, or a certificate has no key. */
export function tlsFiles({ tlsCert, tlsKey, tlsCa }: CommonOptions, cwd: string): TlsFiles {
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw usage('--tls-cert and --tls-key belong together');
  const read = (path: string) => {
    try {
      return readFileSync(resolve(cwd, path), 'utf8');
    } catch {
      throw usage(`The file ${path} cannot be read`);
    }
  };
  const files = {
    ...(tlsCert !== undefined && { cert: read(tlsCert) }),
    ...(tlsKey !== undefined && { key: read(tlsKey) }),
    ...(tlsCa !== undefined && { ca: read(tlsCa) }),
  };
  try {
    createSecureContext(files);
  } catch (error) {
    const names = [tlsCert, tlsKey, tlsCa].filter((path) => path !== undefined).join(', ');
    throw usage(`The certificates and keys of ${names} cannot be used: ${(error as Error).message}`);
  }
  return files;
}

/** A `fetch` with certificates of its own, or without verification. Undefined if the usual one does. */
export function tlsFetch(
  files: TlsFiles,
  insecure: boolean,
): ((request: Request) => Promise<Response>) | undefined {
  if (!insecure && Object.keys(files).length === 0) return undefined;
  // Loaded only for those who need it: it takes a while.
  const loading = import('undici').then(({ Agent, fetch }) => ({
    fetch,
    dispatcher: new Agent({
      connect: { ...files, rejectUnauthorized: !insecure },
      // The deadlines of the client count.
      headersTimeout: 0,
      bodyTimeout: 0,
    }),
  }));
  return async (request) => {
    const { fetch: fetchWith, dispatcher } = await loading;
    const { method, headers, signal, redirect } = request;
    const body = request.body ? await request.text() : undefined;
    const init = {
      method,
      headers: [...headers],
      signal,
      redirect,
      dispatcher,
      ...(body !== undefined && { body }),
    };
    // The same class in another copy of the library.
    return (await fetchWith(request.url, init)) as unknown as Response;
  };
}
