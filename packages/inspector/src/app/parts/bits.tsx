import { Component, type ComponentChildren, type RefObject } from 'preact';
import { useState } from 'preact/hooks';
import type { Problem } from '../../api/command.ts';
import { useSession } from '../data/session.ts';
import paths from './icons.json' with { type: 'json' };
import { stateClass, stateName } from './words.ts';

export const StateBadge = ({ state }: { readonly state: string }) => (
  <span class={`state state-${stateClass(state)}`}>{stateName(state)}</span>
);

/** A page without content says why, and what to do. */
export const Empty = ({
  icon,
  title,
  children,
}: {
  icon: IconName;
  title: string;
  children?: ComponentChildren;
}) => (
  <div class="empty">
    <Icon name={icon} />
    <p class="empty-title">{title}</p>
    {children && <div class="empty-text">{children}</div>}
  </div>
);

interface ProblemNoteProps {
  /** A sentence, or more about it; undefined shows nothing. */
  readonly problem: Problem | string | undefined;
  readonly onRetry?: (() => void) | undefined;
}

/** An error: what went wrong, its code, and its details to unfold. */
export function ProblemNote({ problem: given, onRetry }: ProblemNoteProps) {
  if (given === undefined) return null;
  const problem = typeof given === 'string' ? { message: given } : given;
  return (
    <div class="problem" role="alert">
      <Icon name="warning" />
      <div class="problem-body">
        <p class="problem-message">{problem.message}</p>
        {problem.code && <code class="problem-code">{problem.code}</code>}
        {problem.details !== undefined && (
          <details>
            <summary>Details</summary>
            <pre class="code">{JSON.stringify(problem.details, null, 2)}</pre>
          </details>
        )}
      </div>
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}

export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <QuietButton onClick={() => void copy()}>
      <Icon name={isCopied ? 'check' : 'copy'} />
      <span aria-live="polite">{isCopied ? 'Copied' : label}</span>
    </QuietButton>
  );
}

/** Text as it is, in a box that scrolls. */
export const ScrolledCode = ({ text }: { readonly text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached with the keyboard.
  <pre class="code" tabIndex={0}>
    {text}
  </pre>
);

/** A list of names and values. */
export const Facts = ({ rows }: { readonly rows: readonly (readonly [string, ComponentChildren])[] }) => (
  <dl class="facts">
    {rows.map(([name, value]) => (
      <div key={name} class="fact">
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

/** A titled part of a page. */
export const Section = ({
  title,
  aside,
  children,
}: {
  title: string;
  aside?: ComponentChildren;
  children: ComponentChildren;
}) => (
  <section class="section">
    <header class="section-head">
      <h2>{title}</h2>
      {aside}
    </header>
    {children}
  </section>
);

/** Waiting for something. */
export const Loading = ({ what }: { readonly what: string }) => (
  <p class="loading" role="status">
    {what} …
  </p>
);

interface PageHeadProps {
  readonly title: string;
  /** What the page shows, in a sentence. */
  readonly about?: ComponentChildren;
  /** What stands at the right. */
  readonly children?: ComponentChildren;
}

export const PageHead = ({ title, about, children }: PageHeadProps) => (
  <header class="page-head">
    <h1>{title}</h1>
    {about && <span class="muted">{about}</span>}
    {children && <span class="spacer" />}
    {children}
  </header>
);

interface TableProps {
  /** The names of the columns; that of actions is `''`. */
  readonly columns: readonly string[];
  /** The rows. */
  readonly children: ComponentChildren;
}

/** A table that scrolls sideways where it is wider than the page. */
export const Table = ({ columns, children }: TableProps) => (
  <div class="table-frame">
    <table class="table">
      <thead>
        <tr>
          {columns.map((name) => (
            <th key={name} scope="col">
              {name || <span class="visually-hidden">Actions</span>}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
);

interface QuestionProps {
  readonly title: string;
  readonly dialog: RefObject<HTMLDialogElement | null>;
  readonly onClose?: () => void;
  readonly children: ComponentChildren;
  /** The buttons at the end, after the one that closes it. */
  readonly buttons: ComponentChildren;
}

/** A dialog that asks before something is done. */
export const Question = ({ title, dialog, onClose, children, buttons }: QuestionProps) => (
  <dialog ref={dialog} class="question" aria-label={title} onClose={onClose}>
    <h2>{title}</h2>
    {children}
    <div class="composer-tools">
      <span class="spacer" />
      <Button onClick={() => dialog.current?.close()}>Close</Button>
      {buttons}
    </div>
  </dialog>
);

/** The name of a picture. */
export type IconName = keyof typeof paths;

/** A small picture beside text that says the same. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d={paths[name]} />
  </svg>
);

interface GuardedProps {
  readonly children: ComponentChildren;
}

/** Keeps the rest of the app alive when its content cannot be drawn: agents may send anything. */
export class Guarded extends Component<GuardedProps, { readonly error?: unknown }> {
  override componentDidCatch(error: unknown): void {
    this.setState({ error });
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    const details = error instanceof Error ? error.message : String(error);
    return (
      <ProblemNote
        problem={{ message: 'This cannot be drawn. The Wire page has it as it was sent.', details }}
        onRetry={() => this.setState({ error: undefined })}
      />
    );
  }
}

interface ButtonProps {
  readonly type?: 'button' | 'submit';
  readonly kind?: 'plain' | 'main' | 'quiet' | 'danger';
  readonly disabled?: boolean;
  readonly title?: string | undefined;
  readonly class?: string;
  readonly onClick?: () => void;
  readonly children: ComponentChildren;
}

export function Button({ type = 'button', kind = 'plain', class: more, ...props }: ButtonProps) {
  const classes = ['button', kind !== 'plain' && `button-${kind}`, more].filter(Boolean).join(' ');
  return <button {...props} type={type} class={classes} />;
}

/** A button that few need. */
export const QuietButton = (props: ButtonProps) => <Button {...props} kind="quiet" />;

/** A cross that takes something away. */
export const RemoveButton = (props: Record<'class' | 'label', string> & { readonly onClick: () => void }) => (
  <button type="button" class={props.class} aria-label={props.label} onClick={props.onClick}>
    <Icon name="cancel" />
  </button>
);

/** A button that asks the inspector to do something. While the connection is lost, it cannot be pressed. */
export function ActButton({ disabled = false, title, ...props }: ButtonProps) {
  const { isLost } = useSession();
  const why = isLost ? 'The connection to the inspector is lost' : title;
  return <Button {...props} disabled={disabled || isLost} title={why} />;
}

/** The fault of what was entered; undefined shows nothing. */
export const Mistake = ({ text }: { readonly text: string | undefined }) =>
  text && (
    <p class="field-problem" role="alert">
      {text}
    </p>
  );

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onText: (text: string) => void;
  readonly class?: string;
  readonly placeholder?: string;
  readonly maxLength?: number;
  readonly autocomplete?: 'on' | 'off';
}

export const TextField = ({ label, onText, autocomplete = 'off', ...props }: TextFieldProps) => (
  <label class="field">
    {label}
    <input
      type="text"
      {...{ ...props, autocomplete }}
      onInput={({ currentTarget }) => onText(currentTarget.value)}
    />
  </label>
);
