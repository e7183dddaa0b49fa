export { conversationOf } from './chat/conversation.ts';
export { A2AChatTransport, type A2AChatTransportOptions, chatMessages } from './chat/transport.ts';
