import type { AgentCard } from '@batonjs/protocol';
import { useEffect } from 'preact/hooks';
import type { CardReport, InterfaceChoice, SignatureReport } from '../../api/agent.ts';
import { agentPath } from '../data/api.ts';
import { hrefOf } from '../data/route.ts';
import { useAct, useAgent, useGet, useMay, useSession } from '../data/session.ts';
import {
  ActButton,
  Button,
  CopyButton,
  Empty,
  Icon,
  Loading,
  ProblemNote,
  Section,
  Table,
} from '../parts/bits.tsx';
import { JsonView } from '../parts/content.tsx';
import { plural } from '../parts/words.ts';

/** The card of an agent with everything that was checked. */
export function CardPage({ agent }: { readonly agent: string }) {
  const summary = useAgent(agent);
  const { refresh } = useSession();
  const { value, error, again } = useGet<CardReport>(summary?.canCall ? agentPath(agent, 'card') : undefined);
  // The list of agents has the name, or the problem, from now on.
  useEffect(() => {
    if (value || error) refresh();
  }, [value?.card.name, error?.message]);
  if (summary && !summary.canCall)
    return (
      <Empty icon="card" title="No card">
        The inspector has only the store of this agent, not its address.
      </Empty>
    );
  if (error && !value) return <ProblemNote problem={error.problem} onRetry={again} />;
  if (!value) return <Loading what="Reading the card" />;
  const { card, raw, issues, signature, interfaces } = value;
  return (
    <div class="card-page">
      <header class="page-head">
        <div>
          <h1>{card.name}</h1>
          <p class="lead">{card.description}</p>
        </div>
        <span class="spacer" />
        <Button onClick={again}>Read again</Button>
      </header>
      <ul class="checks" aria-label="Checks">
        <SchemaCheck issues={issues} />
        <SignatureCheck signature={signature} />
      </ul>
      {issues.length > 0 && (
        <ul class="issues">
          {issues.map(({ path, message }) => (
            <li key={path + message}>
              <code>{path || 'card'}</code> {message}
            </li>
          ))}
        </ul>
      )}
      <Interfaces agent={agent} interfaces={interfaces} onChange={again} />
      <Skills agent={agent} card={card} />
      <Section
        title="The card as JSON"
        aside={<CopyButton text={JSON.stringify(raw, null, 2)} label="Copy JSON" />}
      >
        <JsonView value={raw} open={1} />
      </Section>
    </div>
  );
}

function SchemaCheck({ issues }: Pick<CardReport, 'issues'>) {
  const isGood = issues.length === 0;
  return (
    <li class={`check ${isGood ? 'check-good' : 'check-bad'}`}>
      <Icon name={isGood ? 'check' : 'warning'} />
      {isGood ? 'Fits the schema of A2A 1.0' : `${plural(issues.length, 'problem')} with the schema`}
    </li>
  );
}

function SignatureCheck({ signature }: { readonly signature: SignatureReport }) {
  if (signature.state === 'absent') return <li class="check">Not signed</li>;
  if (signature.state === 'verified')
    return (
      <li class="check check-good">
        <Icon name="check" />
        Signature verified, key {signature.kid}
        {signature.unauthenticated.length > 0 && ` (not covered: ${signature.unauthenticated.join(', ')})`}
      </li>
    );
  return (
    <li class={`check ${signature.state === 'invalid' ? 'check-bad' : 'check-unsure'}`}>
      <Icon name="warning" />
      {signature.state === 'invalid' ? 'Signature invalid' : 'Signature not verifiable'}: {signature.why}
    </li>
  );
}

interface InterfacesProps {
  readonly agent: string;
  readonly interfaces: readonly InterfaceChoice[];
  readonly onChange: () => void;
}

function Interfaces({ agent, interfaces, onChange }: InterfacesProps) {
  const maySend = useMay('send');
  const { act, problem } = useAct();
  const choose = async ({ protocolBinding: binding, protocolVersion: version }: InterfaceChoice) => {
    if (await act(agentPath(agent, 'interface'), { binding, version })) onChange();
  };
  return (
    <Section title="Interfaces">
      <ProblemNote problem={problem} />
      <Table columns={['Binding', 'Version', 'Address', 'Inspector']}>
        {interfaces.map((each) => (
          <tr key={`${each.url} ${each.protocolBinding} ${each.protocolVersion}`}>
            <td>{each.protocolBinding}</td>
            <td>{each.protocolVersion}</td>
            <td class="mono">{each.url}</td>
            <td>
              {each.isChosen ? (
                <span class="chip chip-on">in use</span>
              ) : !each.isUsable ? (
                <span class="muted">not supported</span>
              ) : maySend ? (
                <ActButton kind="quiet" onClick={() => void choose(each)}>
                  Use this one
                </ActButton>
              ) : null}
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  );
}

function Skills({ agent, card }: { readonly agent: string; readonly card: AgentCard }) {
  const skills = card.skills ?? [];
  return (
    <Section title="Skills">
      {skills.length === 0 && <p class="muted">The card lists no skills.</p>}
      <ul class="skills">
        {skills.map(({ id, name, description, tags = [], examples = [] }) => (
          <li key={id} class="skill">
            <h3>
              {name} <code>{id}</code>
            </h3>
            <p>{description}</p>
            {tags.length > 0 && (
              <ul class="chips">
                {tags.map((tag) => (
                  <li key={tag} class="chip">
                    {tag}
                  </li>
                ))}
              </ul>
            )}
            {examples.map((example) => (
              <a
                key={example}
                class="example"
                href={hrefOf(agent, 'send', undefined, { text: example, skill: id })}
              >
                <Icon name="send" />
                {example}
              </a>
            ))}
          </li>
        ))}
      </ul>
    </Section>
  );
}
