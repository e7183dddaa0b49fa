import type { ComponentChildren } from 'preact';
import { useSession } from '../data/session.ts';

interface ActButtonProps {
  readonly type?: 'button' | 'submit';
  readonly kind?: 'plain' | 'main' | 'quiet' | 'danger';
  readonly disabled?: boolean;
  readonly title?: string;
  readonly class?: string;
  readonly onClick?: () => void;
  readonly children: ComponentChildren;
}

/** A button that asks the inspector to do something. While the connection is lost, it cannot be pressed. */
export function ActButton(props: ActButtonProps) {
  const { type = 'button', kind = 'plain', disabled = false, title, onClick, children } = props;
  const { isLost } = useSession();
  const classes = ['button', kind !== 'plain' && `button-${kind}`, props.class].filter(Boolean).join(' ');
  return (
    <button
      type={type}
      class={classes}
      disabled={disabled || isLost}
      title={isLost ? 'The connection to the inspector is lost' : title}
      onClick={onClick}
    >
      {children}
    </button>
  );
}
