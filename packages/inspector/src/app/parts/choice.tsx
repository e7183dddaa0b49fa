interface ChoiceProps {
  readonly label: string;
  /** The words for no value. */
  readonly all: string;
  /** Empty for none. */
  readonly chosen: string;
  /** The values, and the words for them. */
  readonly values: readonly (readonly [string, string])[];
  readonly onChoose: (value: string) => void;
}

/** Chooses a value, also one that is no longer among them; nothing while there is nothing to choose. */
export function Choice({ label, all, chosen, values, onChoose }: ChoiceProps) {
  if (values.length === 0 && !chosen) return null;
  const shown =
    !chosen || values.some(([value]) => value === chosen) ? values : [...values, [chosen, chosen] as const];
  return (
    <label class="select">
      <span class="visually-hidden">{label}</span>
      <select value={chosen} onChange={(event) => onChoose(event.currentTarget.value)}>
        <option value="">{all}</option>
        {shown.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
