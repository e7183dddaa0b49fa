export * from './binding.ts';
export type * from './call-transport.ts';
export { fromWire, toDetails, toHeaders, type WireError } from './error-info.ts';
export {
  type HttpReply,
  type HttpRequest,
  hostnameOf,
  type IncomingReply,
  isForeignHost,
  isLoopbackAddress,
  type JsonBody,
  namesThisMachine,
  type OutgoingRequest,
} from './http.ts';
export { httpJsonClient, httpJsonServer } from './http-json.ts';
export { checkJson, type JsonLimits, jsonBody, parseAnswer, parseJson } from './json-body.ts';
export { jsonRpcClient, jsonRpcServer } from './json-rpc.ts';
export { type OlderOperationName, olderMethodOf, operationOfOlderMethod } from './older-methods.ts';
export { decodeSse, encodeSse, type SseEvent, sseHeaders, sseHeartbeat } from './sse.ts';
