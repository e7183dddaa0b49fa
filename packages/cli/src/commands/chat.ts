import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { Form } from '@batonjs/extensions/client';
import type { Part } from '@batonjs/protocol';
import { errorsById, type FormField, fieldsOf, readFields } from '@batonjs/protocol/form-fields';
import { FORM_TYPE, yesOrNo } from '@batonjs/protocol/forms';
import type { Command } from 'commander';
import { addAgentFlags, addExample, addWaitFlags, type CommonOptions } from '../flags/agent-flags.ts';
import { sendAndWait } from '../following/wait.ts';
import { showReply } from '../output/render.ts';
import { interrupted, type Run, type RunContext } from '../run-context.ts';

type ChatFlags = CommonOptions<'taskId' | 'contextId'> & { readonly pollInterval: number };

export function addChat(program: Command, run: Run): void {
  const command = program
    .command('chat')
    .description('send each line of standard input, and keep the context and the task that waits')
    .option('--task-id <id>', 'continue this task')
    .option('--context-id <id>', 'start in this context');
  addExample(addWaitFlags(addAgentFlags(command)), 'chat -a localhost:4000').action(run<ChatFlags>(chat));
}

async function chat(context: RunContext<ChatFlags>): Promise<void> {
  const { io, options, output } = context;
  const agent = await context.agent();
  let { taskId, contextId } = options;
  // Each answer is a document of its own.
  output.isStreaming = true;
  const isPerson = io.stdin.isTTY === true && io.stderr.isTTY === true;
  const offered = agent.card.capabilities?.extensions ?? [];
  const known = isPerson && offered.length > 0 ? await import('@batonjs/extensions/client') : undefined;
  const forms = offered.some(({ uri }) => uri === known?.FORM_INPUT) ? known : undefined;
  let form: FormPrompt | undefined;
  const prompt = () => void (isPerson && io.stderr.write(form?.words || '> '));
  const lines = createInterface({ input: Readable.from(io.stdin), terminal: false });
  io.signal.addEventListener('abort', () => lines.close());
  prompt();
  for await (const line of lines) {
    form?.take(line);
    if (form ? !form.isDone : line.trim() === '') {
      prompt();
      continue;
    }
    const parts = [form?.part ?? { text: line }];
    const extensions = forms && [forms.FORM_INPUT];
    const message = { messageId: randomUUID(), task: taskId, contextId, extensions };
    const reply = await context.following((to, wait) => sendAndWait(to, parts, message, wait));
    showReply(output, reply);
    contextId = reply.task?.contextId ?? reply.message?.contextId ?? contextId;
    const state = reply.task?.status.state;
    const waits = state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_AUTH_REQUIRED';
    taskId = waits ? reply.task?.id : undefined;
    const asked = reply.task && forms?.formOf(reply.task);
    form = asked && promptOf(asked);
    prompt();
  }
  if (io.signal.aborted && !isPerson) context.exitCode = interrupted;
}

type FormPrompt = ReturnType<typeof promptOf>;

/** Asks a person for the fields of a form, a line for each. */
function promptOf(form: Form) {
  const entered = new Map<string, readonly string[]>();
  const fields = fieldsOf(form.schema, form.initial);
  /** Those that are still asked for. */
  const left = fields.flatMap(function leaves(field): FormField[] {
    return field.kind === 'group' ? field.fields.flatMap(leaves) : [field];
  });
  let problems: Readonly<Record<string, string>> = errorsById(fields, form.errors ?? {});

  return {
    /** Takes a line as what was entered in the next field, which is asked for again if it does not fit. */
    take(line: string): void {
      const [field] = left;
      if (!field) return;
      const texts = line.trim() === '' ? field.entered : textsFor(field, line);
      const { errors } = readFields([field], () => texts);
      problems = errorsById([field], errors);
      if (problems[field.id] !== undefined) return;
      entered.set(field.id, texts);
      left.shift();
    },
    get isDone(): boolean {
      return left.length === 0;
    },
    /** What stands before the next line. */
    get words(): string {
      const [field] = left;
      if (!field) return '';
      const { id, title, description, options, entered, isRequired } = field;
      const choices = options.map(({ text }, at) => `${at + 1} ${text}`).join(', ');
      const known = entered.map((text) => options[Number(text)]?.text ?? text).join(', ');
      const hints = [description, choices, known && `now ${known}`, !isRequired && 'optional'].filter(
        Boolean,
      );
      const problem = problems[id] ?? '';
      return `${problem && `${problem}\n`}${title}${hints.length > 0 ? ` (${hints.join('; ')})` : ''}: `;
    },
    /** The answer. */
    get part(): Part {
      const { values } = readFields(fields, ({ id }) => entered.get(id) ?? []);
      return { data: { formId: form.formId, values }, mediaType: FORM_TYPE };
    },
  };
}

/** A line as the texts of a field: of choices, the number or the words of one, or of several with commas. */
function textsFor({ kind, options }: FormField, line: string): readonly string[] {
  if (options.length === 0) return [line];
  const chosen = kind === 'choices' ? line.split(',') : [line];
  return chosen.map((each) => {
    const word = each.trim().toLowerCase();
    const said = yesOrNo(word);
    const at = options.findIndex(({ value, text }) => text.toLowerCase() === word || value === said);
    return String(at < 0 ? Number(word) - 1 : at);
  });
}
