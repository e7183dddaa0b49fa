export { A2AChatTransport, type A2AChatTransportOptions, chatMessages } from './chat/transport.ts';
