import { render } from 'preact';
import { App } from './app.tsx';
import { takeToken } from './data/api.ts';

takeToken();
const place = document.getElementById('app')!;
// What the page shows until it is here.
place.replaceChildren();
render(<App />, place);
