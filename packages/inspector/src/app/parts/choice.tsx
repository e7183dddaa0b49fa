import type { ComponentChildren } from 'preact';

/** Values, and the words for them. */
type Values<Value> = readonly (readonly [Value, string])[];

interface SelectProps<Value> {
  readonly label: ComponentChildren;
  readonly chosen: Value;
  readonly values: Values<Value>;
  readonly disabled?: boolean;
  /** `select`: only screen readers are told the label. Default. */
  readonly class?: 'select' | 'field' | 'scope-choice';
  readonly onChoose: (value: Value) => void;
}

/** Chooses one of several values from a list that opens. */
export function Select<Value extends string | number>(props: SelectProps<Value>) {
  const { label, chosen, values, disabled = false, class: look = 'select', onChoose } = props;
  return (
    <label class={look}>
      {look === 'select' ? <span class="visually-hidden">{label}</span> : label}
      <select
        value={chosen}
        disabled={disabled}
        onChange={(event) => onChoose(values[event.currentTarget.selectedIndex]?.[0] ?? chosen)}
      >
        {values.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

interface ChoiceProps {
  readonly label: string;
  /** The words for no value. */
  readonly all: string;
  /** Empty for none. */
  readonly chosen: string;
  readonly values: Values<string>;
  readonly onChoose: (value: string) => void;
}

/** Chooses a value or none, also one that is no longer among them; nothing while there is nothing to choose. */
export function Choice({ all, values, ...props }: ChoiceProps) {
  const { chosen } = props;
  if (values.length === 0 && !chosen) return null;
  const isKnown = !chosen || values.some(([value]) => value === chosen);
  return (
    <Select {...props} values={[['', all], ...values, ...(isKnown ? [] : [[chosen, chosen] as const])]} />
  );
}

interface TogglesProps<Value> extends Pick<SelectProps<Value>, 'chosen' | 'values' | 'onChoose'> {
  readonly label: string;
}

/** Chooses one of a few values by buttons. */
export const Toggles = <Value extends string | undefined>(props: TogglesProps<Value>) => (
  <fieldset class="choices" aria-label={props.label}>
    {props.values.map(([value, words]) => (
      <button
        key={value}
        type="button"
        class={`choice ${value === props.chosen ? 'is-on' : ''}`}
        aria-pressed={value === props.chosen}
        onClick={() => props.onChoose(value)}
      >
        {words}
      </button>
    ))}
  </fieldset>
);
