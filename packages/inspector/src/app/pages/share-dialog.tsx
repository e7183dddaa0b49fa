import { useRef, useState } from 'preact/hooks';
import type { LookLinks } from '../../api/agent.ts';
import { useAct, useGet, useMay } from '../data/session.ts';
import { ActButton, ProblemNote, Question } from '../parts/bits.tsx';
import { LinkForm } from '../parts/link-form.tsx';
import { dateTime } from '../parts/words.ts';

/** Makes links with which colleagues may look, from the page that is open, and takes them back. */
export function ShareDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOpen, setOpen] = useState(false);
  const { value, error, again } = useGet<LookLinks>(isOpen ? '/links' : undefined, 5_000);
  const { act, isBusy, problem } = useAct();
  if (!useMay('share')) return null;
  const show = () => {
    setOpen(true);
    dialog.current?.showModal();
  };
  const make = async (name: string, expiresMs: number) => {
    const { secret } = (await act<{ secret?: string }>('/links', { name, expiresMs })) ?? {};
    again();
    return secret && `${location.href.split('#')[0]}#look=${secret}${location.hash.slice(1)}`;
  };
  return (
    <>
      <ActButton onClick={show}>Share …</ActButton>
      <Question title="Share with a colleague" dialog={dialog} onClose={() => setOpen(false)} buttons={null}>
        <p>
          The link opens this page, and shows all agents and tasks, and acts on none.
          {value?.isLocal && ' This inspector answers its own machine, so it opens on this machine only.'}
          {value && !value.areKept && ' It ends with this process, as no agent has a store here.'}
        </p>
        <LinkForm label="Name of the colleague" maxLength={100} days={7} does="opens once" make={make} />
        <ProblemNote problem={problem ?? error?.problem} />
        <ul class="look-links" aria-label="Links">
          {value?.links.map(({ id, name, by = 'holder of the token', at, expiresAt, openedAt }) => (
            <li key={id}>
              <strong>{name}</strong>
              {` until ${dateTime(expiresAt)}, ${openedAt ? 'opened' : 'not opened yet'}; made by ${by} ${dateTime(at)} `}
              <ActButton disabled={isBusy} onClick={() => void act('/links', { takeBack: id }).then(again)}>
                Take back
              </ActButton>
            </li>
          ))}
        </ul>
      </Question>
    </>
  );
}
