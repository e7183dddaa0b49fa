import type { AgentCard } from '@batonjs/protocol';
import type { Command } from 'commander';
import { signatureOf } from '../connection/card-signature.ts';
import { readCard } from '../connection/open-agent.ts';
import { CliError, usage } from '../errors/cli-error.ts';
import { addAgentFlags, addExample, addStreamFlag, type CommonOptions } from '../flags/agent-flags.ts';
import { showCard } from '../output/render.ts';
import type { Run, RunContext } from '../run-context.ts';

type CardFlags = CommonOptions<'jwks', 'validate' | 'extended'>;

export function addCard(program: Command, run: Run): void {
  const card = program.command('card').description('read and check agent cards');
  const get = card
    .command('get')
    .description('show the card of an agent')
    .argument('[ref]', 'the same as --agent-card')
    .option('--validate', 'check it against the schema of A2A')
    .option('--extended', 'the card for authenticated callers')
    .option('--jwks <file or url>', 'keys that its signature is checked with');
  addExample(addStreamFlag(addAgentFlags(get)), 'card get localhost:4000 --validate').action(
    run<CardFlags>(getCard),
  );
}

async function getCard(context: RunContext<CardFlags>, reference: string | undefined): Promise<void> {
  const { options, output } = context;
  if (reference !== undefined) Object.assign(options, { agentCard: reference });
  if (options.endpoint !== undefined) throw usage('--endpoint has no card');
  const card = options.extended
    ? await context.call((agent, signal) => agent.getExtendedAgentCard({}, { signal }))
    : await context.waiting(() => readCard(context));
  if (options.validate) await validate(card);
  const signature = await signatureOf(card, options.jwks, context);
  if (output.isJson) {
    output.note(`Signature: ${signature}`);
    return output.json(card);
  }
  showCard(output, card);
  output.field('Signature', signature);
  if (options.validate) output.field('Valid', true);
}

async function validate(card: AgentCard): Promise<void> {
  const { AgentCard: schema } = await import('@batonjs/protocol');
  const { error } = schema.safeParse(card);
  if (!error) return;
  const problems = error.issues.slice(0, 20).map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new CliError('A2ACLI_ERR_CARD_INVALID', `The card does not fit its schema: ${problems.join('; ')}`);
}
