import { agentsOf, ClientError } from '@batonjs/client';
import type { Command } from 'commander';
import { resolveReference } from '../connection/card-reference.ts';
import { endpointAttachment, keptToken, originAt, warnOf, wireOf } from '../connection/open-agent.ts';
import { CliError, usage } from '../errors/cli-error.ts';
import { addAgentFlags, addExample } from '../flags/agent-flags.ts';
import type { Run, RunContext } from '../run-context.ts';

export function addAgents(program: Command, run: Run): void {
  const command = program
    .command('agents')
    .description('list the agents of a host, from its AI Catalog')
    .argument('<host>', 'a host, or its URL');
  addExample(addAgentFlags(command), 'agents localhost:4000').action(run(listAgents));
}

async function listAgents(context: RunContext, host: string): Promise<void> {
  const { options, output, io } = context;
  const reference = resolveReference(host, io.cwd);
  if ('card' in reference) throw usage(`${host} is the card of one agent`, `card get -a ${host}`);
  // Credentials go to the host alone.
  const bearer = options.bearer ?? keptToken(context, originAt(reference.url));
  const { headers } = endpointAttachment(options, bearer);
  warnOf(options, reference.url, Object.keys(headers).length > 0, output);
  const wire = await wireOf(context, {}, [], false);
  const settings = { ...wire, timeoutMs: options.timeout, headers: { ...options.svcParam, ...headers } };
  const agents = await agentsOf(reference.url, settings).catch((error) => {
    if (!ClientError.is(error, 'INVALID_CARD')) throw error;
    const hint = `If it is one agent without a catalog: card get -a ${host}`;
    throw new CliError('A2ACLI_ERR_CARD_NOT_FOUND', error.message, hint, error);
  });
  if (output.isJson) return output.json({ agents });
  for (const { name, description, card } of agents) {
    output.field('Agent', name);
    if (description !== undefined) output.field('Description', description);
    output.field('Card', typeof card === 'string' ? card : 'in the catalog: see -o json');
  }
  output.field('Agents', agents.length);
}
