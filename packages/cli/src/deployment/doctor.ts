import { type Command, Option } from 'commander';
import { usage } from '../errors/cli-error.ts';
import { addAgentFlags, addExample } from '../flags/agent-flags.ts';
import { durationText, toDuration } from '../flags/duration.ts';
import type { Run, RunContext } from '../run-context.ts';
import { clockSkew, type Finding, find } from './finding.ts';
import { addScopeFlags, openStore, type ScopeFlags, storeText } from './open-store.ts';
import type { OutsideFlags } from './outside.ts';

interface DoctorFlags extends Omit<ScopeFlags, 'store'>, OutsideFlags {
  readonly from?: 'outside';
  readonly store?: string;
  readonly stuckAfter: number;
}

export function addDoctor(program: Command, run: Run): void {
  const command = program
    .command('doctor')
    .description(
      'check a store, an agent, or both (docs: operating/upgrading); the exit code is 1 if there is a problem',
    )
    .argument('[agent]', 'the same as --agent-card')
    .option('--store <url>', storeText)
    .addOption(
      new Option('--from <where>', 'say what lies between here and the agent does').choices(['outside']),
    )
    .option('--text <text>', 'from outside: a message whose stream is watched; it runs the agent')
    .option('--jwks <file or url>', 'from outside: keys that the signature of the card is checked with')
    .option(
      '--stuck-after <duration>',
      'a task at work is stuck after so long without a change',
      toDuration,
      600_000,
    );
  addExample(
    addAgentFlags(addScopeFlags(command)),
    'doctor --store redis://localhost:6379 --agent expense -a localhost:4000',
  ).action(run<DoctorFlags>(examine));
}

async function examine(context: RunContext<DoctorFlags>, reference: string | undefined): Promise<void> {
  const { options, output, io } = context;
  if (reference !== undefined) Object.assign(options, { agentCard: reference });
  if (options.store === undefined && options.agentCard === undefined && options.endpoint === undefined)
    throw usage('There is nothing to check', 'Give --store, --agent-card or both');
  const findings: Finding[] = [];
  if (options.store !== undefined) {
    const { checkStore } = await import('./store-checks.ts');
    const opened = await openStore(options.store, io.cwd);
    findings.push(...(await checkStore(opened, options).finally(() => opened.store.close())));
  }
  if (options.from) findings.push(...(await (await import('./outside.ts')).checkFromOutside(context)));
  else if (options.agentCard !== undefined || options.endpoint !== undefined)
    findings.push(...(await checkAgent(context)));
  const problems = findings.filter(({ result }) => result === 'problem').length;
  context.exitCode = problems > 0 ? 1 : 0;
  const words = { ok: 'Ok', problem: 'Problem', skipped: 'Skipped' };
  output.result({ findings, problems }, [
    ...findings.map(({ check, result, note }) => [words[result], `${check}: ${note}`] as const),
    ['Problems', problems],
  ]);
}

async function checkAgent(context: RunContext<DoctorFlags>): Promise<Finding[]> {
  const { AgentCard } = await import('@batonjs/protocol');
  const { agent, card } = await context.open();
  const [{ url } = { url: '' }] = card.supportedInterfaces;
  return Promise.all([
    find('agent answers', async () => {
      const before = performance.now();
      await agent.listTasks({ pageSize: 1 });
      return { isOk: true, note: durationText(Math.ceil(performance.now() - before)) };
    }),
    find('card fits its schema', async () => {
      const problem = AgentCard.safeParse(card).error?.issues[0];
      return { isOk: !problem, note: problem ? `${problem.path.join('.')}: ${problem.message}` : card.name };
    }),
    find('clock of the agent', async () => {
      if (!/^https?:/.test(url)) return undefined;
      const before = Date.now();
      const date = (await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(10_000) })).headers.get(
        'date',
      );
      // The header counts whole seconds.
      return date === null ? undefined : clockSkew(Date.parse(date) + 500, before, Date.now());
    }),
  ]);
}
