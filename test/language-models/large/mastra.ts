import { type Agent, artifact, completed, inputRequired, working } from '@batonjs/server';
import type { Workflow } from '@mastra/core/workflows';

type AnyWorkflow = Pick<Workflow, 'createRun' | 'getWorkflowRunById'>;

/**
 * A workflow of Mastra as an agent. The task is its run: `suspend({ question })` becomes INPUT_REQUIRED, and the step
 * that suspended resumes with `{ answer }`. Give Mastra a storage that outlives the process, and serve with
 * `restart: 'rerun'`: after a crash the run goes on after the last step that ended. It gives `{ text }`.
 */
export const workflowAgent = (workflow: AnyWorkflow): Agent =>
  async function* ({ taskId, text, signal }) {
    yield working();
    const known = await workflow.getWorkflowRunById(taskId);
    const run = await workflow.createRun({ runId: taskId });
    // The signal also aborts when a question ends the turn.
    signal.addEventListener('abort', () => signal.reason.code === 'CANCELED' && run.cancel());
    const perform = {
      suspended: () => run.resume({ resumeData: { answer: text } }),
      running: () => run.restart(),
    }[String(known?.status)];
    const result = await (perform ? perform() : run.start({ inputData: { text } }));
    signal.throwIfAborted();
    if (result.status === 'suspended') {
      const [asked] = Object.values(result.suspendPayload) as { question: string }[];
      return yield inputRequired(asked!.question);
    }
    if (result.status !== 'success') throw new Error(`The run ended as ${result.status}`);
    yield artifact('answer', (result.result as { text: string }).text);
    yield completed();
  };
