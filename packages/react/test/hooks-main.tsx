/** @jsxImportSource react */
import { createRoot, hydrateRoot } from 'react-dom/client';
import { page } from './hooks-page.tsx';

const root = document.body.appendChild(document.createElement('div'));
globalThis.mount = (url) => {
  const mounted = createRoot(root);
  mounted.render(page(url));
  globalThis.unmount = () => mounted.unmount();
};
globalThis.hydrate = (html) => {
  root.innerHTML = html;
  hydrateRoot(root, page());
};
