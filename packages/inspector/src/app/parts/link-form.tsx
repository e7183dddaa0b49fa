import { useState } from 'preact/hooks';
import { ActButton, TextField } from './bits.tsx';
import { Select } from './choice.tsx';
import { plural } from './words.ts';

interface LinkFormProps {
  readonly label: string;
  readonly placeholder?: string;
  readonly maxLength: number;
  /** How long it lasts, unless another time is chosen. */
  readonly days: 1 | 7;
  /** What the link does, after "Send this link to Ana: it". */
  readonly does: string;
  /** Resolves to the link; to undefined if it failed. */
  readonly make: (to: string, expiresMs: number) => Promise<string | undefined>;
}

/** Makes a link for a person, which is shown once. */
export function LinkForm({ days, does, make, ...field }: LinkFormProps) {
  const [to, setTo] = useState('');
  const [hours, setHours] = useState(24 * days);
  const [link, setLink] = useState<string>();
  const submit = async (event: Event) => {
    event.preventDefault();
    setLink(undefined);
    setLink(await make(to, hours * 3_600_000));
  };
  const times = [1, 8, 24, 168, 720].map(
    (time) => [time, time < 24 ? plural(time, 'hour') : plural(time / 24, 'day')] as const,
  );
  return (
    <form class="assign-form" onSubmit={(event) => void submit(event)}>
      <TextField {...field} autocomplete="on" value={to} onText={setTo} />
      <Select class="field" label="For" chosen={hours} values={times} onChoose={setHours} />
      <ActButton type="submit" disabled={to.trim() === ''}>
        Make a link
      </ActButton>
      {link && (
        <label class="field assign-link">
          {`Send this link to ${to}: it ${does}, without a login, and is shown only now`}
          <input class="mono" readOnly value={link} onFocus={(event) => event.currentTarget.select()} />
        </label>
      )}
    </form>
  );
}
