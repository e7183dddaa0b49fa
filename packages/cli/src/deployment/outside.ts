import { type AgentClient, type AgentEvent, isInterrupted, isTerminal } from '@batonjs/client';
import type { Message } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { A2A_EXTENSIONS, A2A_VERSION, AGENT_CARD_PATH } from '@batonjs/protocol/headers';
import { signatureOf } from '../connection/card-signature.ts';
import { namedOrigin, type OpenAgent, originAt } from '../connection/open-agent.ts';
import { usage } from '../errors/cli-error.ts';
import type { CommonOptions } from '../flags/agent-flags.ts';
import { durationText } from '../flags/duration.ts';
import type { RunContext } from '../run-context.ts';
import { type Finding, find } from './finding.ts';

export type OutsideFlags = CommonOptions<'text' | 'jwks'>;

/** How long a stream is watched without `--timeout`, in milliseconds: usual limits of silence are 30 and 60 s. */
const watchMs = 70_000;
const lostVersion = 'the header A2A-Version does not arrive, so that requests count as 0.3: pass it on';

/** What proxies and gateways between this machine and an agent do to its card, its calls and its streams. */
export async function checkFromOutside(context: RunContext<OutsideFlags>): Promise<Finding[]> {
  const origin = namedOrigin(context);
  if (origin === undefined || context.options.endpoint !== undefined)
    throw usage('--from outside needs the address of an agent', 'Give --agent-card with a host or a URL');
  let opened: OpenAgent | undefined;
  const card = await find('card at its path', async () => {
    opened = await context.open().catch(async (error: Error) => {
      const request = new Request(origin + AGENT_CARD_PATH, { signal: AbortSignal.timeout(10_000) });
      const { ok } = await fetch(request).catch(() => ({ ok: false }));
      throw ok ? new Error(`${error.message}; there is one at ${origin}: the path is not passed on`) : error;
    });
    return { isOk: true, note: opened.card.name };
  });
  if (!opened) return [card];
  const { agent } = opened;
  const calls = await find('calls', async () => {
    const isLost = (await reasonOf(agent)) === 'VERSION_NOT_SUPPORTED';
    return { isOk: !isLost, note: isLost ? lostVersion : 'arrive' };
  });
  const found = [card, await checkSignature(opened, context), await checkAddress(opened, origin), calls];
  if (calls.result !== 'ok') return found;
  const version = await find('A2A-Version', async () => {
    const isOk = (await reasonOf(agent, { [A2A_VERSION]: '99.0' })) === 'VERSION_NOT_SUPPORTED';
    return { isOk, note: isOk ? 'arrives' : lostVersion };
  });
  return [...found, version, await checkExtensions(opened, context), ...(await checkStream(opened, context))];
}

const checkSignature = ({ card }: OpenAgent, context: RunContext<OutsideFlags>) =>
  find('signature of the card', async () => {
    const { jwks } = context.options;
    if (!card.signatures?.length) return 'the card has none';
    if (jwks === undefined) return 'give --jwks';
    const note = await signatureOf(card, jwks, context).catch(({ message }: Error) => message);
    const cause = 'a gateway that rewrites the addresses of a card breaks it: give the agent its `publicUrl`';
    if (note.startsWith('verified')) return { isOk: true, note };
    return { isOk: false, note: `${note}; ${cause}, and let the card pass` };
  });

const checkAddress = ({ agent, fetch }: OpenAgent, origin: string) =>
  find('address in the card', async () => {
    const { url } = agent.interface;
    if (!/^https?:/.test(url) || originAt(url) === origin) return { isOk: true, note: url };
    const request = new Request(url, { method: 'HEAD', signal: AbortSignal.timeout(10_000) });
    const isOk = await fetch(request).then(Boolean, () => false);
    const next = isOk ? 'is reached past it' : `is not reached: set \`publicUrl\` of the agent to ${origin}`;
    return { isOk, note: `${url} is not at ${origin}, and ${next}` };
  });

const checkExtensions = ({ agent, card }: OpenAgent, context: RunContext) =>
  find('A2A-Extensions', async () => {
    const uri = card.capabilities?.extensions?.[0]?.uri;
    if (uri === undefined) return 'the card has none';
    if (agent.interface.protocolBinding === 'GRPC') return 'give --transport jsonrpc or rest';
    await agent.listTasks({ pageSize: 1 }, { extensions: [uri] });
    const isOk = context.answered?.headers.get(A2A_EXTENSIONS)?.includes(uri) === true;
    const lost = `an answer does not name ${uri}: pass the header A2A-Extensions on, both ways`;
    return { isOk, note: isOk ? 'passes both ways' : lost };
  });

/** What answers say that the agent did not mean so, and its cause. */
const causes: readonly (readonly [RegExp, string])[] = [
  [/ is written /, 'the body was changed on the way: let it pass as it is'],
  [/^Method not found/, 'the path arrives as another one: a prefix is added, or not taken away'],
  [/ answers \d+ with /, 'the agent did not answer this: look at the route, and at what it leads to'],
];

/** Why an unknown task is not read. Throws with the cause where it is not the agent that says so. */
async function reasonOf(agent: AgentClient, headers: Record<string, string> = {}): Promise<string> {
  try {
    return (await agent.getTask({ id: crypto.randomUUID() }, { headers })).id;
  } catch (error) {
    const { message, reason } = error as A2AError;
    if (A2AError.is(error) && /^(TASK_NOT_FOUND|VERSION_NOT_SUPPORTED|INVALID_PARAMS)$/.test(reason))
      return reason;
    const [, cause] = causes.find(([said]) => said.test(message)) ?? [];
    throw cause ? new Error(`${message}; ${cause}`) : error;
  }
}

/** Sends a message, and watches its stream until its task ends or the time is over. `cut`: why it ended earlier. */
async function watch(agent: AgentClient, message: Message, { options, io }: RunContext<OutsideFlags>) {
  const statuses: { readonly cameAt: number; readonly madeAt: number }[] = [];
  const late = AbortSignal.timeout(options.timeout ?? watchMs);
  let cameAt = Date.now();
  let problem = 'The stream ended';
  try {
    const signal = AbortSignal.any([late, io.signal]);
    for await (const event of agent.sendStreamingMessage({ message }, { signal })) {
      cameAt = Date.now();
      const { message: said, task, statusUpdate }: AgentEvent = event;
      const status = (task ?? statusUpdate)?.status;
      if (status?.timestamp) statuses.push({ cameAt, madeAt: Date.parse(status.timestamp) });
      if (said || (status && (isTerminal({ status }) || isInterrupted({ status })))) return { statuses };
    }
  } catch (error) {
    io.signal.throwIfAborted();
    if (late.aborted) return { statuses };
    problem = (error as Error).message;
  }
  return { statuses, cut: `${problem} after ${durationText(Date.now() - cameAt)} without an event` };
}

/** Works on a message of the user, in a stream. */
async function checkStream({ agent, card }: OpenAgent, context: RunContext<OutsideFlags>) {
  const { text } = context.options;
  const messageId = crypto.randomUUID();
  const seen =
    text !== undefined && card.capabilities?.streaming
      ? await watch(agent, { messageId, role: 'ROLE_USER', parts: [{ text }] }, context)
      : undefined;
  const skipped = text === undefined ? 'give --text, whose work takes a while' : 'the card offers no streams';
  return Promise.all([
    find('silence', async () => {
      const cause = 'raise the time that it may be idle, such as proxy_read_timeout or idle_timeout';
      return seen
        ? { isOk: !seen.cut, note: seen.cut ? `${seen.cut}: ${cause}` : 'no stream was cut' }
        : skipped;
    }),
    find('events come as they are made', async () => {
      const [first, last] = [seen?.statuses[0], seen?.statuses.at(-1)];
      const madeMs = first && last ? last.madeAt - first.madeAt : 0;
      if (!first || !last || seen?.cut || madeMs < 1_000)
        return seen ? 'the work took less than a second, or was cut' : skipped;
      const cameMs = last.cameAt - first.cameAt;
      const times = `what was made in ${durationText(madeMs)} came within ${durationText(cameMs)}`;
      const cause = 'turn buffering off for text/event-stream, such as proxy_buffering';
      return { isOk: cameMs > madeMs / 4, note: cameMs > madeMs / 4 ? times : `${times}: ${cause}` };
    }),
    find('a POST is sent once', async () => {
      if (!seen) return skipped;
      const { tasks } = await agent.listTasks({ historyLength: 50, pageSize: 50 });
      const made = tasks.filter(({ history }) => history?.some((one) => one.messageId === messageId)).length;
      const cause = 'turn retries of POST off, or set `messages: { idempotency: true }` of the agent';
      return { isOk: made < 2, note: `one message made ${made} tasks${made < 2 ? '' : `: ${cause}`}` };
    }),
  ]);
}
