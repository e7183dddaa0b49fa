import { TYPED_SKILLS } from '@batonjs/extensions/client';
import type { FieldSchema } from '@batonjs/protocol/form-fields';
import { useState } from 'preact/hooks';
import type { CardReport } from '../../api/agent.ts';
import type { Sent } from '../../api/command.ts';
import { agentPath } from '../data/api.ts';
import { hrefOf } from '../data/route.ts';
import { useAgent, useGet, useMay } from '../data/session.ts';
import { Composer, type Destination, useSend } from '../forms/composer.tsx';
import { SchemaForm } from '../forms/schema-form.tsx';
import { Empty, Icon, Loading, PageHead, ProblemNote, Section } from '../parts/bits.tsx';
import { Toggles } from '../parts/choice.tsx';
import { Content } from '../parts/content.tsx';
import { shortId } from '../parts/words.ts';

interface SendPageProps {
  readonly agent: string;
  /** What the address says: a text, a skill, a context, a referenced task. */
  readonly query: URLSearchParams;
}

/** Sends a first message to an agent: in words, or with the form of a skill. */
export function SendPage({ agent, query }: SendPageProps) {
  const maySend = useMay('send');
  const summary = useAgent(agent);
  const { value, error, again } = useGet<CardReport>(summary?.canCall ? agentPath(agent, 'card') : undefined);
  const [chosen, setChosen] = useState<string>();
  const [sent, setSent] = useState<Sent>();
  const context = query.get('context') ?? undefined;
  const reference = query.get('reference') ?? undefined;
  const destination = { agent, contextId: context, references: reference ? [reference] : undefined };
  const finish = (result: Sent) => {
    if (result.taskId) location.hash = hrefOf(agent, 'tasks', result.taskId);
    else setSent(result);
  };
  if (!maySend) return <ReadOnly />;
  if (error && !value) return <ProblemNote problem={error.problem} onRetry={again} />;
  if (!value) return <Loading what="Reading the card" />;
  const skills = value.card.skills ?? [];
  const skill = skills.find(({ id }) => id === chosen);
  const schema = skill && (value.skillSchemas[skill.id] as FieldSchema | undefined);
  const examples = (skill ? [skill] : skills).flatMap(({ examples = [] }) => examples).slice(0, 6);
  return (
    <div class="send-page">
      <PageHead title="Send a message" />
      <Links context={context} reference={reference} />
      <Toggles
        label="Kind of message"
        chosen={skill?.id}
        values={[[undefined, 'Any message'], ...skills.map(({ id, name }) => [id, name] as const)]}
        onChoose={setChosen}
      />
      {skill && <p class="lead">{skill.description}</p>}
      {schema && skill ? (
        <SkillForm
          key={skill.id}
          destination={destination}
          skill={skill.id}
          schema={schema}
          onSent={finish}
        />
      ) : (
        <Composer
          key={query.toString()}
          {...destination}
          label="Your message"
          placeholder="Your message. Ctrl+Enter sends it."
          initial={query.get('text') ?? ''}
          onSent={finish}
        />
      )}
      {!schema && <Examples agent={agent} examples={examples} context={context} reference={reference} />}
      {sent?.message && <DirectAnswer agent={agent} message={sent.message} />}
    </div>
  );
}

function ReadOnly() {
  return (
    <Empty icon="lock" title="Read only">
      This inspector may look, and not send. Its owner can allow it: <code>allow: ['send']</code>, or{' '}
      <code>--allow send</code> on the command line.
    </Empty>
  );
}

/** What the message belongs to. */
function Links({ context, reference }: Pick<ExamplesProps, 'context' | 'reference'>) {
  if (!context && !reference) return null;
  return (
    <ul class="chips">
      {context && <li class="chip">In context {shortId(context)}</li>}
      {reference && <li class="chip">Refers to {shortId(reference)}</li>}
    </ul>
  );
}

interface ExamplesProps {
  readonly agent: string;
  readonly examples: readonly string[];
  readonly context: string | undefined;
  readonly reference: string | undefined;
}

function Examples({ agent, examples, context, reference }: ExamplesProps) {
  if (examples.length === 0) return null;
  return (
    <Section title="Examples from the card">
      <div class="examples">
        {examples.map((example) => (
          <a
            key={example}
            class="example"
            href={hrefOf(agent, 'send', undefined, { text: example, context, reference })}
          >
            <Icon name="send" />
            {example}
          </a>
        ))}
      </div>
    </Section>
  );
}

function DirectAnswer({ agent, message }: Pick<ExamplesProps, 'agent'> & Required<Pick<Sent, 'message'>>) {
  return (
    <Section title="The agent answered without a task">
      <Content parts={message.parts} agent={agent} />
      {message.contextId && (
        <a class="button" href={hrefOf(agent, 'send', undefined, { context: message.contextId })}>
          Go on in this context
        </a>
      )}
    </Section>
  );
}

interface SkillFormProps {
  readonly destination: Destination;
  readonly skill: string;
  readonly schema: FieldSchema;
  readonly onSent: (sent: Sent) => void;
}

function SkillForm({ destination, skill, schema, onSent }: SkillFormProps) {
  const { send, isBusy, problem } = useSend(destination, onSent);
  return (
    <>
      <ProblemNote problem={problem} />
      <SchemaForm
        schema={schema}
        submit={isBusy ? 'Sending …' : 'Send'}
        isBusy={isBusy}
        onSubmit={(values) => void send([{ data: values }], { [TYPED_SKILLS]: { skillId: skill } })}
      />
    </>
  );
}
