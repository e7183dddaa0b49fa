import { type GrpcListener, listenGrpc } from '@batonjs/bindings-grpc';
import type { Exhibit } from './exhibit.ts';
import type { Settings } from './settings.ts';
import { StartError } from './start-error.ts';

/**
 * Serves every agent over gRPC, each on a port of its own, if `GRPC_PORT` is set. Plaintext, as HTTP is: TLS is for the
 * proxy in front. Rejects with a `StartError` if a port cannot be used.
 */
export async function listenOnGrpc(
  exhibits: readonly Exhibit[],
  { host, grpcPort }: Settings,
  url: string,
): Promise<GrpcListener[]> {
  if (grpcPort === undefined) return [];
  const listeners: GrpcListener[] = [];
  const { hostname } = new URL(url);
  try {
    for (const [index, { server }] of exhibits.entries()) {
      const port = grpcPort && grpcPort + index;
      const address = grpcPort ? `${hostname}:${port}` : undefined;
      listeners.push(await listenGrpc(server, { host, port, plaintext: true, address }));
    }
    return listeners;
  } catch (error) {
    await Promise.all(listeners.map((listener) => listener.close({ graceMs: 0 })));
    const last = grpcPort + exhibits.length - 1;
    throw new StartError(
      `The ports from ${grpcPort} to ${last} of ${host} cannot be used for gRPC (GRPC_PORT): ${error instanceof Error ? error.message : error}`,
      { cause: error },
    );
  }
}
