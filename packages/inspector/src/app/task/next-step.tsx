import { FORM_TYPE, formOf } from '@batonjs/extensions/client';
import type { Task } from '@batonjs/protocol';
import { useState } from 'preact/hooks';
import { useAgent, useMay } from '../data/session.ts';
import { Composer, useSend } from '../forms/composer.tsx';
import { SchemaForm } from '../forms/schema-form.tsx';
import { Icon, ProblemNote, QuietButton, Section } from '../parts/bits.tsx';
import { isTerminalState } from '../parts/words.ts';
import type { Replay } from '../timeline/replay.ts';

/** What can be done for a task that has not ended. */
export function NextStep({ agent, replay }: { readonly agent: string; readonly replay: Replay }) {
  const { task, question } = replay;
  const maySend = useMay('send');
  const summary = useAgent(agent);
  if (!task || isTerminalState(task.status.state)) return null;
  const isReserved = task.status.state === 'TASK_STATE_INPUT_REQUIRED' && question?.onlyBy !== undefined;
  return (
    <>
      <AuthNote task={task} />
      {isReserved && (
        <p class="auth-note" role="note">
          Only a person with an answer link may answer this question
          {question?.onlyBy === 'link' ? '' : `: ${question?.onlyBy?.join(', ')}`}.
        </p>
      )}
      {!isReserved && maySend && summary?.canCall && (
        <AnswerPanel agent={agent} task={task} question={question} />
      )}
    </>
  );
}

/** What to do while an agent waits for an authorization. */
function AuthNote({ task }: { readonly task: Task }) {
  if (task.status.state !== 'TASK_STATE_AUTH_REQUIRED') return null;
  return (
    <div class="auth-note" role="note">
      <Icon name="lock" />
      <div>
        <p class="auth-title">The agent waits for an authorization</p>
        <p>
          Follow its message above, at the service that it names: the permission is given there and not here.
          Most agents go on by themselves once it is given. If this one does not, send it a message.
        </p>
        <p>Never send a password or a token as a message: messages are kept with the task.</p>
      </div>
    </div>
  );
}

interface AnswerPanelProps {
  readonly agent: string;
  readonly task: Task;
  readonly question: Replay['question'];
}

/** Answers a task: with its form, if it asks one, or with a message. */
function AnswerPanel({ agent, task, question }: AnswerPanelProps) {
  const shown = formOf(task);
  const isAsked = task.status.state === 'TASK_STATE_INPUT_REQUIRED';
  // Its client may get the question as text, and answers with plain data.
  const form = shown ?? (isAsked ? question?.form : undefined);
  const [isFree, setFree] = useState(false);
  const destination = { agent, taskId: task.id, contextId: task.contextId };
  const { send, isBusy, problem } = useSend(destination, () => {});
  if (!form || isFree)
    return (
      <Section title={isAsked ? 'Answer' : 'Send a message to the task'}>
        <Composer
          {...destination}
          label={isAsked ? 'Your answer' : 'Your message'}
          onSent={() => setFree(false)}
        />
      </Section>
    );
  const other = <QuietButton onClick={() => setFree(true)}>Answer in words</QuietButton>;
  return (
    <Section title={form.title ?? 'Answer'} aside={other}>
      <ProblemNote problem={problem} />
      <SchemaForm
        key={form.formId + JSON.stringify(form.errors ?? {})}
        schema={form.schema}
        initial={form.initial}
        errors={form.errors}
        submit="Answer"
        isBusy={isBusy}
        onSubmit={(values) =>
          void send([
            shown ? { data: { formId: form.formId, values }, mediaType: FORM_TYPE } : { data: values },
          ])
        }
      />
    </Section>
  );
}
