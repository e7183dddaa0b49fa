import { useState } from 'preact/hooks';
import type { AnswerLink } from '../../api/command.ts';
import { agentPath } from '../data/api.ts';
import { useAct, useAgent, useMay } from '../data/session.ts';
import { ActButton } from '../forms/act-button.tsx';
import { ProblemNote } from '../parts/bits.tsx';
import { Select } from '../parts/choice.tsx';
import { dateTime } from '../parts/words.ts';
import type { Asked } from '../timeline/entry-details.ts';

const hourMs = 3_600_000;
const times: readonly (readonly [number, string])[] = [
  [hourMs, '1 hour'],
  [8 * hourMs, '8 hours'],
  [24 * hourMs, '1 day'],
  [7 * 24 * hourMs, '7 days'],
];

interface AssignPanelProps {
  readonly agent: string;
  readonly task: string;
  readonly scope?: number;
  readonly asked: readonly Asked[];
}

/** Who was asked the question by a link, and a way to ask someone else. */
export function AssignPanel({ agent, task, scope = 0, asked }: AssignPanelProps) {
  const mayAssign = useMay('assign');
  const canAssign = mayAssign && useAgent(agent)?.hasServer;
  if (asked.length === 0 && !canAssign) return null;
  return (
    <section class="assign" aria-label="Assigned to">
      {asked.length > 0 && (
        <ul class="assigned">
          {asked.map(({ by, assignedBy, expiresAt }, index) => (
            <li key={index}>
              <strong>{by}</strong> was asked by {assignedBy ?? 'the agent'}, until {dateTime(expiresAt)}
            </li>
          ))}
        </ul>
      )}
      {canAssign && <AssignForm agent={agent} task={task} scope={scope} />}
    </section>
  );
}

function AssignForm({ agent, task, scope }: Omit<AssignPanelProps, 'asked'>) {
  const [to, setTo] = useState('');
  const [expiresMs, setExpiresMs] = useState(24 * hourMs);
  const [link, setLink] = useState<AnswerLink>();
  const { act, problem } = useAct();
  const assign = async (event: Event) => {
    event.preventDefault();
    setLink(undefined);
    setLink(await act(agentPath(agent, 'tasks', task, 'assign'), { to, expiresMs, scope }));
  };
  return (
    <form class="assign-form" onSubmit={(event) => void assign(event)}>
      <label class="field">
        Assign to
        <input
          type="text"
          required
          maxLength={200}
          placeholder="A name or a mail address"
          value={to}
          onInput={(event) => setTo(event.currentTarget.value)}
        />
      </label>
      <Select class="field" label="For" chosen={expiresMs} values={times} onChoose={setExpiresMs} />
      <ActButton type="submit" disabled={to.trim() === ''}>
        Make a link
      </ActButton>
      <ProblemNote problem={problem} />
      {link && (
        <label class="field assign-link">
          Send this link to {to}: it answers once, without a login, and is shown only now
          <input class="mono" readOnly value={link.url} onFocus={(event) => event.currentTarget.select()} />
        </label>
      )}
    </form>
  );
}
