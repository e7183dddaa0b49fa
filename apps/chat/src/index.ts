export { type ChatAgentOptions, chatAgent, chatCard } from './chat-agent.ts';
export { type ServedChat, serveChat } from './serve-chat.ts';
