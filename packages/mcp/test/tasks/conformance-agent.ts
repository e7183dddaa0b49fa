import { type Extendable, extend, formInput, inputRequired, skill, typedSkills } from '@batonjs/extensions';
import { artifact, canceled, completed, data, failed, working } from '@batonjs/server';
import { z } from 'zod';

/** The tools that the official scenarios for tasks call, as far as A2A has a form for them. */
export function conformanceAgent(): Extendable {
  const greet = skill({
    id: 'greet',
    name: 'Greet',
    description: 'Greets at once',
    input: z.looseObject({ name: z.string().default('world') }),
    async *run({ input: { name } }) {
      yield completed(`Hello, ${name}!`);
    },
  });
  const slow = skill({
    id: 'slow_compute',
    name: 'Slow compute',
    description: 'Works for some seconds',
    input: z.looseObject({ seconds: z.number().default(1), label: z.string().default('') }),
    async *run({ input: { seconds, label }, signal }) {
      yield working(`Computing ${label}`);
      if (!(await passed(seconds * 1_000, signal))) return yield canceled();
      yield artifact('result', data({ label }));
      yield completed(`Computed ${label}`);
    },
  });
  const failing = skill({
    id: 'failing_job',
    name: 'Failing job',
    description: 'Fails after a second',
    input: z.looseObject({}),
    async *run({ signal }) {
      yield working();
      await passed(1_000, signal);
      yield failed('The job failed');
    },
  });
  const confirm = skill({
    id: 'confirm_delete',
    name: 'Confirm delete',
    description: 'Asks before it deletes',
    input: z.looseObject({ filename: z.string().default('a.txt') }),
    async *run({ input: { filename }, values }) {
      if (typeof values.confirm !== 'boolean')
        return yield inputRequired(`Delete ${filename}?`, { form: z.object({ confirm: z.boolean() }) });
      yield completed(values.confirm ? `Deleted ${filename}` : `Kept ${filename}`);
    },
  });
  const asking = skill({
    id: 'test_tool_with_task',
    name: 'Asks, then works',
    description: 'Asks a question, and then works for longer',
    input: z.looseObject({}),
    async *run({ values, signal }) {
      if (typeof values.name !== 'string')
        return yield inputRequired('Your name?', { form: z.object({ name: z.string() }) });
      yield working();
      await passed(1_500, signal);
      yield completed(`Done for ${values.name}`);
    },
  });
  const card = { name: 'Conformance', description: 'Tools of the official scenarios', version: '1.0.0' };
  return extend(typedSkills(card, greet, slow, failing, confirm, asking), formInput);
}

/** Whether the time passed before the signal was aborted. */
const passed = (ms: number, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve(false);
    });
  });
