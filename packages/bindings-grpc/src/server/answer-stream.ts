import type { CallEvent, CallEvents, CallTarget, ProtobufPeer, SharedJson } from '@batonjs/bindings';
import { Metadata, type ServerUnaryCall, type ServerWritableStream, type sendUnaryData } from '@grpc/grpc-js';
import { toResultError, toStatus } from '../errors/wire-error.ts';
import type { Method } from '../wire/a2a-service.ts';
import { encodeMessage } from '../wire/encode-message.ts';
import { withPosition } from '../wire/event-position.ts';
import { peerOf, toIncoming } from './incoming.ts';

/** Answers a call with a stream of events. Reads on only when the client has taken what was written. */
export async function answerStream(
  method: Method,
  version: string,
  target: CallTarget,
  call: ServerWritableStream<Buffer, Uint8Array>,
): Promise<void> {
  const disconnected = new AbortController();
  const peer = peerOf(call);
  let events: CallEvents | undefined;
  let isOver = false;
  // Also emitted after the end of the stream.
  call.on('cancelled', () => {
    if (isOver) return;
    disconnected.abort();
    events?.close();
  });
  // Keeps an error after the end of the client from being thrown; grpc-js has a listener of its own before.
  call.on('error', () => {});
  try {
    const answer = await target.answerCall(
      toIncoming(method, version, call, disconnected.signal, target.limits),
    );
    if (!('events' in answer)) return void call.end();
    events = answer.events;
    if (!call.cancelled) call.sendMetadata(extensionsIn(answer.extensions));
    for (let batch = await next(); batch; batch = await next()) {
      for (const event of batch.events) {
        if (call.cancelled) return;
        if (!call.write(bytesOf(method, event, peer))) await drained(call);
      }
    }
    if (!call.cancelled) call.end();
  } catch (error) {
    if (!call.cancelled) call.emit('error', toStatus(toResultError(error), [], method.errors));
  } finally {
    isOver = true;
    events?.close();
  }

  function next() {
    return call.cancelled ? undefined : events?.next();
  }
}

const encoded = new WeakMap<SharedJson, Uint8Array>();

/** The bytes of an event, which all followers of its task share. */
function bytesOf(
  { response, translation }: Method,
  { id, event, isLast }: CallEvent,
  peer: ProtobufPeer,
): Uint8Array {
  // In another version, an event may say whether it is the last one of its stream.
  if (translation)
    return encodeMessage(response, translation.writeResult(withPosition(event.value, id), isLast, peer));
  const known = encoded.get(event);
  if (known) return known;
  const bytes = encodeMessage(response, withPosition(event.value, id));
  encoded.set(event, bytes);
  return bytes;
}

function drained(call: ServerWritableStream<Buffer, Uint8Array>): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      call.off('drain', done);
      call.off('cancelled', done);
      resolve();
    };
    call.on('drain', done);
    call.on('cancelled', done);
  });
}

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
      const written = translation ? translation.writeResult(result, true, peerOf(call)) : result;
      const bytes = encodeMessage(response, written);
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
function extensionsIn(extensions: readonly string[]): Metadata {
  const metadata = new Metadata();
  if (extensions.length > 0) metadata.set('a2a-extensions', extensions.join(', '));
  return metadata;
}
