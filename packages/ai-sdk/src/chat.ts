export { chatMessages } from './chat/history.ts';
export { A2AChatTransport, type A2AChatTransportOptions } from './chat/transport.ts';
