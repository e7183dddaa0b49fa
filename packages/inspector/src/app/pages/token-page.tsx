import { useState } from 'preact/hooks';
import { keepToken } from '../data/api.ts';
import { Icon } from '../parts/bits.tsx';

/** Asks for the token, for a browser that was opened without it. */
export function TokenPage({ message, onToken }: { readonly message: string; readonly onToken: () => void }) {
  const [text, setText] = useState('');
  return (
    <main class="token-page">
      <Icon name="lock" />
      <h1>Open the inspector</h1>
      <p>{message}. Use the address that was printed when the inspector started, or paste it here.</p>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          keepToken(text);
          onToken();
        }}
      >
        <label class="field">
          Printed address, or token
          <input
            class="mono"
            type="text"
            autocomplete="off"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="button button-main">
          Open
        </button>
      </form>
    </main>
  );
}
