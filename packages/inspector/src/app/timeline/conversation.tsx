import type { Json, Message, Part } from '@batonjs/protocol';
import { INSPECTOR } from '../../api/command.ts';
import { Content } from '../parts/content.tsx';
import { Flow } from '../parts/flow.tsx';
import type { Replay } from './replay.ts';

/** What client and agent said, oldest first. */
export function Conversation({ replay, agent }: { readonly replay: Replay; readonly agent: string }) {
  const messages = messagesOf(replay);
  if (messages.length === 0) return <p class="muted">No messages so far.</p>;
  return (
    <Flow
      items={messages}
      keyOf={({ messageId }) => messageId}
      label="Messages"
      row={(message) => (
        <MessageView message={message} agent={agent} by={replay.answeredBy[message.messageId]} />
      )}
    />
  );
}

/** The history, and the message of the status unless the history has it. */
function messagesOf({ task, messages }: Replay): readonly Message[] {
  if (!task) return messages;
  const { history = [], status } = task;
  // It is rarely far from the end, where it is looked for first.
  const isRepeated = history.findLastIndex(({ messageId }) => messageId === status.message?.messageId) >= 0;
  return status.message && !isRepeated ? [...history, status.message] : history;
}

/** The person who sent it with the inspector, if that is known. */
function sentBy({ metadata }: Message): string | undefined {
  const { sentBy: name } = Object(metadata?.[INSPECTOR]) as { sentBy?: unknown };
  return typeof name === 'string' ? name : undefined;
}

interface MessageViewProps {
  readonly message: Message;
  readonly agent: string;
  /** Who answered by a link. */
  readonly by: string | undefined;
}

function MessageView({ message, agent, by }: MessageViewProps) {
  const isAgent = message.role === 'ROLE_AGENT';
  // The form of a question is shown where it is answered.
  const parts = isAgent ? message.parts.filter((part) => !isForm(part)) : message.parts.map(withoutFormId);
  const person = isAgent ? undefined : by ? `${by}, by link` : sentBy(message);
  return (
    <div class={`message message-${isAgent ? 'agent' : 'user'} ${person ? 'message-named' : ''}`}>
      <span class="message-role">{person ?? (isAgent ? 'Agent' : 'Client')}</span>
      <Content parts={parts} agent={agent} />
    </div>
  );
}

const isForm = ({ mediaType }: Part): boolean => mediaType?.includes('.form+json') ?? false;

/** An answer to a form without the id of the form, which tells people nothing. */
function withoutFormId(part: Part): Part {
  if (!isForm(part) || !('data' in part)) return part;
  const { values } = Object(part.data) as { values?: Json };
  return values === undefined ? part : { ...part, data: values };
}
