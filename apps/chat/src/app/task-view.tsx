/** @jsxImportSource react */
import { textOf } from '@batonjs/client';
import { formOf } from '@batonjs/extensions/client';
import type { Artifact, Json, Message, Part, Task } from '@batonjs/protocol';
import { QuestionForm } from '@batonjs/react';
import { memo, useState } from 'react';

interface TaskViewProps {
  readonly task: Task;
  readonly onAnswer: (values: Json) => Promise<unknown>;
}

/** One task: what was said, tools, artifacts, and the question that it waits with. */
export function TaskView({ task, onAnswer }: TaskViewProps) {
  const { history = [], artifacts = [], status } = task;
  const said = history.filter((message) => message.role === 'ROLE_USER' && textOf(message) !== '');
  const tools = toolsOf([...history, ...(status.message ? [status.message] : [])]);
  return (
    <article aria-label={textOf(said[0]) || 'Task'} data-state={status.state}>
      {said.map((message) => (
        <p key={message.messageId} className="said">
          {textOf(message)}
        </p>
      ))}
      {tools.map((tool) => (
        <ToolCard key={tool.toolCallId} tool={tool} />
      ))}
      {artifacts.map((artifact) => (
        <ArtifactView key={artifact.artifactId} artifact={artifact} />
      ))}
      {status.state === 'TASK_STATE_INPUT_REQUIRED' && <Question task={task} onAnswer={onAnswer} />}
      {status.state === 'TASK_STATE_WORKING' && <p className="doing">{textOf(status.message)}</p>}
      {/_(FAILED|CANCELED|REJECTED)$/.test(status.state) && (
        <p role="alert">{textOf(status.message) || status.state.slice('TASK_STATE_'.length).toLowerCase()}</p>
      )}
    </article>
  );
}

/** An artifact that did not change is the same object, and is not rendered again. */
const ArtifactView = memo(function ArtifactView({ artifact }: { readonly artifact: Artifact }) {
  return (
    <>
      {textOf(artifact) && <p className="answer">{textOf(artifact)}</p>}
      {artifact.parts.filter(isPicture).map((part, index) => (
        <Picture key={String(index)} part={part} />
      ))}
    </>
  );
});

/** A text has a part for each chunk: no component for each of them. */
const isPicture = (part: Part): boolean => part.mediaType?.startsWith('image/') ?? false;

function Picture({ part }: { readonly part: Part }) {
  const src =
    'raw' in part ? `data:${part.mediaType};base64,${part.raw}` : 'url' in part ? part.url : undefined;
  return <img src={src} alt={part.filename ?? 'A picture'} />;
}

interface Tool {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly state: string;
  readonly input?: Json;
  readonly output?: Json;
}

/** The calls that the agent shows, each in its latest state. */
function toolsOf(messages: readonly Message[]): Tool[] {
  const tools = new Map<string, Tool>();
  for (const part of messages.flatMap(({ parts }) => parts)) {
    const tool: Partial<Tool> = 'data' in part ? Object(part.data) : {};
    const { toolCallId, toolName, state } = tool;
    if (toolCallId && toolName && state) tools.set(toolCallId, { ...tool, toolCallId, toolName, state });
  }
  return [...tools.values()];
}

const ToolCard = ({ tool }: { readonly tool: Tool }) => (
  <section className="tool" aria-label={`Tool ${tool.toolName}`}>
    <b>{tool.toolName}</b> {tool.state}
    <code>
      {JSON.stringify(tool.input)}
      {tool.output !== undefined && ` → ${JSON.stringify(tool.output)}`}
    </code>
  </section>
);

/** A question: approvals of tools as buttons, a form, or the text alone. */
function Question({ task, onAnswer }: TaskViewProps) {
  const [isBusy, setBusy] = useState(false);
  const form = formOf(task);
  const calls = task.status.message?.parts.flatMap((part): Tool[] =>
    'data' in part ? (Object(part.data).toolCalls ?? []) : [],
  );
  const decide = (approved: boolean) => {
    setBusy(true);
    const values = Object.fromEntries((calls ?? []).map(({ toolCallId }) => [toolCallId, { approved }]));
    void onAnswer(values).finally(() => setBusy(false));
  };
  return (
    <section className="question" aria-label="Question">
      <p>{textOf(task.status.message)}</p>
      {form && <QuestionForm key={form.formId} form={form} onAnswer={onAnswer} />}
      {!form && calls && calls.length > 0 && (
        <p>
          <button type="button" disabled={isBusy} onClick={() => decide(true)}>
            Allow
          </button>
          <button type="button" disabled={isBusy} onClick={() => decide(false)}>
            Deny
          </button>
        </p>
      )}
    </section>
  );
}
