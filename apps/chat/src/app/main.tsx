/** @jsxImportSource react */
import { connect } from '@batonjs/client';
import { FORM_INPUT } from '@batonjs/extensions/client';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App, type Settings } from './app.tsx';

const settings = (await (await fetch('settings.json')).json()) as Settings;
const agent = await connect(new URL(settings.agent, location.href), { extensions: [FORM_INPUT] });
createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <App agent={agent} settings={settings} />
  </StrictMode>,
);
