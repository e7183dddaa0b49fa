import type { CallTarget } from '@batonjs/bindings';
import { Metadata, type ServerUnaryCall, type sendUnaryData } from '@grpc/grpc-js';
import { toResultError, toStatus } from '../errors/wire-error.ts';
import { encodeMessage } from '../wire/encode-message.ts';
import type { Method } from '../wire/service.ts';
import { peerOf, toIncoming } from './incoming.ts';

/** Answers a call with one result. */
export function answerUnary(
  method: Method,
  version: string,
  target: CallTarget,
  call: ServerUnaryCall<Buffer, Uint8Array>,
  respond: sendUnaryData<Uint8Array>,
): void {
  const disconnected = new AbortController();
  let isAnswered = false;
  // Also emitted after an answer. Aborting then would cost as much as the call.
  call.on('cancelled', () => {
    if (!isAnswered) disconnected.abort();
  });
  let extensions: readonly string[] = [];
  target
    .answerCall(toIncoming(method, version, call, disconnected.signal, target.limits))
    .then((answer) => {
      extensions = answer.extensions;
      const { response, translation } = method;
      const result = 'result' in answer ? answer.result : {};
      const bytes = encodeMessage(
        response,
        translation ? translation.writeResult(result, true, peerOf(call)) : result,
      );
      if (extensions.length > 0) call.sendMetadata(extensionsIn(extensions));
      isAnswered = true;
      respond(null, bytes);
    })
    .catch((error: unknown) => {
      isAnswered = true;
      respond(toStatus(toResultError(error), extensions, method.errors));
    });
}

/** The initial metadata of an answer. */
export function extensionsIn(extensions: readonly string[]): Metadata {
  const metadata = new Metadata();
  if (extensions.length > 0) metadata.set('a2a-extensions', extensions.join(', '));
  return metadata;
}
