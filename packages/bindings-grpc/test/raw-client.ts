import type { OperationName } from '@batonjs/protocol/operations';
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { onTestFinished } from 'vitest';
import { decodeDetails } from '../src/errors/wire-error.ts';
import { a2aMethods } from '../src/wire/a2a-service.ts';
import { decodeMessage } from '../src/wire/decode-message.ts';
import { encodeMessage } from '../src/wire/encode-message.ts';

const asIs = (bytes: Buffer) => bytes;

/** A bare client of grpc-js, which sends and shows everything. */
export function rawClient(address: string) {
  const client = new Client(address, credentials.createInsecure());
  onTestFinished(() => client.close());

  const parts = (operation: OperationName, params: unknown, headers: Record<string, string>) => {
    const method = a2aMethods.find((other) => other.operation === operation)!;
    const metadata = new Metadata();
    for (const [name, value] of Object.entries({ 'a2a-version': '1.0', ...headers }))
      metadata.set(name, value);
    const bytes = Buffer.isBuffer(params) ? params : Buffer.from(encodeMessage(method.request, params));
    return { method, metadata, bytes };
  };

  return {
    client,
    /** Resolves to the result and the initial metadata; rejects with the `ServiceError`. */
    call(operation: OperationName, params: unknown, headers: Record<string, string> = {}) {
      const { method, metadata, bytes } = parts(operation, params, headers);
      let initial = new Metadata();
      return new Promise<{ result: Record<string, unknown>; initial: Metadata }>((resolve, reject) => {
        client
          .makeUnaryRequest(method.path, asIs, asIs, bytes, metadata, (error, value) =>
            error ? reject(error) : resolve({ result: decodeMessage(method.response, value!), initial }),
          )
          .on('metadata', (received) => {
            initial = received;
          });
      });
    },
    /** Opens a stream; its events are the bytes. */
    stream(
      operation: OperationName,
      params: unknown,
      headers: Record<string, string> = {},
      options: { deadline?: number } = {},
    ) {
      const { method, metadata, bytes } = parts(operation, params, headers);
      return client.makeServerStreamRequest(method.path, asIs, asIs, bytes, metadata, options);
    },
  };
}

/** The events that a stream had until it ended, and the error if it failed. */
export async function readAll(stream: AsyncIterable<Buffer>) {
  const { response } = a2aMethods.find(({ isStream }) => isStream)!;
  const events: Record<string, unknown>[] = [];
  try {
    for await (const bytes of stream) events.push(decodeMessage(response, bytes));
    return { events };
  } catch (error) {
    return { events, error: error as ServiceError };
  }
}

/** Code, message and details of an error. */
export function shown(error: unknown) {
  const { code, details, metadata } = error as ServiceError;
  const [packed] = metadata.get('grpc-status-details-bin') as Buffer[];
  return { code, message: details, details: packed ? decodeDetails(packed) : [] };
}

/** The error of a call that must fail. */
export async function refused(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!error) throw new Error('The call was answered');
  return shown(error);
}

/** The params of a send, with a message of this text. */
export const message = (said: string, more: object = {}) => ({
  message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: said }], ...more },
});
