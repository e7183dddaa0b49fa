/** @jsxImportSource react */
import { connect } from '@batonjs/client';
import { FORM_INPUT } from '@batonjs/extensions/client';
import { Chat, english, german } from '@batonjs/react/chat';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

/** What the server says to the page: the address of the agent, and whether there is a process to kill. */
interface Settings {
  readonly agent: string;
  readonly canKill: boolean;
}

const settings = (await (await fetch('settings.json')).json()) as Settings;
const agent = await connect(new URL(settings.agent, location.href), { extensions: [FORM_INPUT] });
/** Kills the process of the server. Its parent starts it again. */
const kill = () => fetch('kill', { method: 'POST', headers: { 'x-baton-chat': 'kill' } }).catch(() => {});
const highlight = async (code: string, language: string) =>
  (await import('./highlight.tsx')).highlighted(code, language);
const texts = navigator.language.startsWith('de') ? german : english;
createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <Chat agent={agent} highlight={highlight} texts={texts}>
      {settings.canKill && (
        <button type="button" className="kill" onClick={kill}>
          Kill the server
        </button>
      )}
    </Chat>
  </StrictMode>,
);
