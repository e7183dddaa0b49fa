import { z } from 'zod';

const state = z
  .enum([
    'TASK_STATE_SUBMITTED',
    'TASK_STATE_WORKING',
    'TASK_STATE_INPUT_REQUIRED',
    'TASK_STATE_AUTH_REQUIRED',
    'TASK_STATE_COMPLETED',
    'TASK_STATE_FAILED',
    'TASK_STATE_CANCELED',
    'TASK_STATE_REJECTED',
  ])
  .describe('Only tasks in this state');
const taskId = z.string().min(1);
const waitSeconds = z
  .number()
  .min(0)
  .max(3_600)
  .default(30)
  .describe('How long the call waits for the task to end or to ask; the task goes on after that');
const values = z.record(z.string(), z.unknown());

/** The tools for an assistant that writes an agent, with the schemas of their arguments. */
export const schemas = {
  agent: z.strictObject({
    lines: z.number().int().min(0).max(500).default(40).describe('How many of the last printed lines'),
  }),
  send: z.strictObject({
    message: z.string().optional().describe('Text for the agent'),
    data: values.optional().describe('Structured input, beside the text or in its place'),
    contextId: z.string().min(1).optional().describe('Goes on with the conversation of an earlier task'),
    waitSeconds,
  }),
  answer: z.strictObject({
    taskId,
    answer: z.string().optional().describe('An answer in words'),
    values: values.optional().describe('The fields of a form, or other data'),
    waitSeconds,
  }),
  list_tasks: z.strictObject({
    state: state.optional(),
    contextId: z.string().min(1).optional(),
    limit: z.number().int().min(1).max(100).default(20),
  }),
  timeline: z.strictObject({
    taskId,
    after: z.number().int().min(0).default(0).describe('Only entries after this position'),
    limit: z.number().int().min(1).max(500).default(100),
  }),
  fork: z.strictObject({
    taskId,
    from: z
      .string()
      .min(1)
      .default('start')
      .describe('start, the name of a step, or a position of the log: what comes before is reused'),
    message: z
      .string()
      .optional()
      .describe('From the start: what it says instead; otherwise the next message'),
    waitSeconds,
  }),
  cancel: z.strictObject({ taskId }),
  search_docs: z.strictObject({
    query: z.string().min(1).max(400).describe('Words, such as "ask a question", or names of the API'),
    limit: z.number().int().min(1).max(20).default(6),
  }),
  read_docs: z.strictObject({
    page: z.string().min(1).describe('A path such as agents/questions.md; README.md lists all pages'),
  }),
} as const;

export type ToolName = keyof typeof schemas;
/** The arguments of a tool, checked. */
export type Arguments<Name extends ToolName> = z.infer<(typeof schemas)[Name]>;

/** What each tool does. */
export const descriptions: Readonly<Record<ToolName, string>> = {
  agent:
    'Says whether the agent runs, its address and card, and what its process printed last, such as errors of the compiler. Call it after each change of the file: the agent is started again by itself.',
  send: 'Sends a message to the agent, which starts a task, and waits for its end or its question.',
  answer: 'Answers the question of a task that waits for input, and waits for its end or its next question.',
  list_tasks: 'Lists the tasks of the agent, those that changed last first.',
  timeline:
    'Shows the log of a task: messages, turns, steps, memory, updates, and the errors that the agent threw, with their stacks. Clients never see these errors.',
  fork: 'Makes a task that goes on from a point of another one, which stays as it is: to try a changed agent again.',
  cancel: 'Cancels a task.',
  search_docs: 'Searches the documentation of the installed version of Baton.',
  read_docs: 'Reads a page of that documentation.',
};
