/** @jsxImportSource react */
import { createRoot, hydrateRoot } from 'react-dom/client';
import { page } from './hooks-page.tsx';

const root = document.body.appendChild(document.createElement('div'));
globalThis.mount = (url) => createRoot(root).render(page(url));
globalThis.hydrate = (html) => {
  root.innerHTML = html;
  hydrateRoot(root, page());
};
