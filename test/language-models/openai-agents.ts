import { type Agent, append, artifact, coalesce, completed, inputRequired, working } from '@batonjs/server';
import { type Agent as ModelAgent, type Runner, RunState } from '@openai/agents';

/**
 * An agent of the OpenAI Agents SDK as an agent of A2A. A tool with `needsApproval` becomes INPUT_REQUIRED: yes
 * approves it, anything else rejects it. The memory of the task keeps the run.
 */
export const runAgent = (assistant: ModelAgent, runner: Runner): Agent =>
  async function* ({ memory, text, signal }) {
    yield working();
    const kept = memory.get<string>('run');
    const state = kept ? await RunState.fromString(assistant, kept) : undefined;
    for (const call of state ? state.getInterruptions() : []) {
      if (text.trim().toLowerCase() === 'yes') state?.approve(call);
      else state?.reject(call);
    }
    const result = await runner.run(assistant, state || text, { stream: true, signal });
    let isFirst = true;
    for await (const chunk of coalesce(result.toTextStream(), { signal })) {
      yield isFirst ? artifact('answer', chunk) : append('answer', chunk);
      isFirst = false;
    }
    await result.completed;
    if (result.interruptions.length === 0) return yield completed();
    const parts = result.interruptions.map((call) => ({
      text: `May ${call.name} run with ${call.arguments}?`,
    }));
    const question = inputRequired({ messageId: crypto.randomUUID(), role: 'ROLE_AGENT', parts });
    yield { ...question, memory: { run: result.state.toString() } };
  };
