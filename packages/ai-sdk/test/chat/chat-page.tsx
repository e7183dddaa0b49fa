/** @jsxImportSource react */
import { useChat } from '@ai-sdk/react';
import { type AgentClient, connect } from '@batonjs/client';
import { FORM_INPUT } from '@batonjs/extensions/client';
import { Chat } from '@batonjs/react/chat';
import { lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from 'ai';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { A2AChatTransport, chatMessages, conversationOf } from '../../src/chat.ts';

interface PageProps {
  readonly agent: AgentClient;
  readonly transport: A2AChatTransport;
  readonly id: string;
  readonly messages: UIMessage[];
}

function Page({ agent, ...props }: PageProps) {
  const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithApprovalResponses;
  const chat = useChat({ ...props, resume: true, sendAutomaticallyWhen });
  return <Chat agent={agent} conversation={conversationOf(chat, props.transport)} />;
}

globalThis.mount = async (url) => {
  const agent = await connect(url, { extensions: [FORM_INPUT], retry: { firstMs: 20 } });
  const id = new URLSearchParams(location.hash.slice(1)).get('chat') ?? crypto.randomUUID();
  const messages = await chatMessages(agent, id);
  const page = <Page {...{ agent, id, messages, transport: new A2AChatTransport(agent) }} />;
  createRoot(document.body).render(<StrictMode>{page}</StrictMode>);
};
