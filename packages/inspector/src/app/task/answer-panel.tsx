import { FORM_TYPE } from '@batonjs/extensions/client';
import type { Task } from '@batonjs/protocol';
import { useState } from 'preact/hooks';
import { Composer, useSend } from '../forms/composer.tsx';
import { SchemaForm } from '../forms/schema-form.tsx';
import { ProblemNote, Section } from '../parts/bits.tsx';
import type { Replay } from '../timeline/replay.ts';
import { formOfTask } from '../timeline/task-state.tsx';

interface AnswerPanelProps {
  readonly agent: string;
  readonly task: Task;
  readonly question: Replay['question'];
}

/** Answers a task: with its form, if it asks one, or with a message. */
export function AnswerPanel({ agent, task, question }: AnswerPanelProps) {
  const shown = formOfTask(task);
  // Its client gets the question as text, and answers with plain data.
  const hidden = task.status.state === 'TASK_STATE_INPUT_REQUIRED' ? question?.form : undefined;
  const form = shown ?? hidden;
  const [isFree, setFree] = useState(false);
  const destination = { agent, taskId: task.id, contextId: task.contextId };
  const { send, isBusy, problem } = useSend(destination, () => {});
  const isAsked = task.status.state === 'TASK_STATE_INPUT_REQUIRED';
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
  const other = (
    <button type="button" class="button button-quiet" onClick={() => setFree(true)}>
      Answer in words
    </button>
  );
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
