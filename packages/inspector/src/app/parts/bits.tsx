import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Problem } from '../../api/command.ts';
import { Icon, type IconName } from './icon.tsx';
import { stateClass, stateName } from './words.ts';

/** The state of a task. */
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

/** An error: what went wrong, its code, and its details to unfold. */
export const ProblemNote = ({
  problem,
  onRetry,
}: {
  problem: Problem;
  onRetry?: (() => void) | undefined;
}) => (
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
    {onRetry && (
      <button type="button" class="button" onClick={onRetry}>
        Try again
      </button>
    )}
  </div>
);

/** Copies a text. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <button type="button" class="button button-quiet" onClick={() => void copy()}>
      <Icon name={isCopied ? 'check' : 'copy'} />
      <span aria-live="polite">{isCopied ? 'Copied' : label}</span>
    </button>
  );
}

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

/** Ages to choose from in a `select`: milliseconds, with the words for them. */
export const AgeOptions = ({ ages }: { readonly ages: readonly (readonly [number, string])[] }) => (
  <>
    {ages.map(([ms, name]) => (
      <option key={ms} value={ms}>
        {name}
      </option>
    ))}
  </>
);
