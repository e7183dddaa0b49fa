/** @jsxImportSource react */
import { useChat } from '@ai-sdk/react';
import { connect } from '@batonjs/client';
import { lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from 'ai';
import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { A2AChatTransport, chatMessages } from '../../src/chat.ts';

declare global {
  var mount: (url: string, id: string) => Promise<void>;
}

function Chat({ url, id, messages: known }: { url: string; id: string; messages: UIMessage[] }) {
  const [transport] = useState(() => new A2AChatTransport(() => connect(url)));
  const { messages, sendMessage, addToolApprovalResponse, status } = useChat({
    id,
    transport,
    messages: known,
    resume: true,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const approvals = messages.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      part.type === 'dynamic-tool' && part.state === 'approval-requested' ? part.approval.id : [],
    ),
  );
  const textIn = ({ parts }: UIMessage) =>
    parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return (
    <main>
      <p role="status">{status}</p>
      {messages.map((message) => (
        <p key={message.id}>{`${message.role}: ${textIn(message)}`}</p>
      ))}
      {approvals.map((approval) => (
        <button
          key={approval}
          type="button"
          onClick={() => addToolApprovalResponse({ id: approval, approved: true })}
        >
          Allow
        </button>
      ))}
      <button type="button" onClick={() => sendMessage({ text: 'Go' })}>
        Send
      </button>
    </main>
  );
}

globalThis.mount = async (url, id) => {
  const messages = await chatMessages(await connect(url), id);
  createRoot(document.body.appendChild(document.createElement('div'))).render(
    <StrictMode>
      <Chat url={url} id={id} messages={messages} />
    </StrictMode>,
  );
};
