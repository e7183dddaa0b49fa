import { Component, type ComponentChildren } from 'preact';
import { ProblemNote } from './bits.tsx';

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
