import { render } from 'preact';
import { App } from './app.tsx';
import { takeLink, takeToken } from './data/api.ts';

takeToken();
const refusal = await takeLink();
const place = document.getElementById('app')!;
// What the page shows until it is here.
place.replaceChildren();
render(<App refusal={refusal} />, place);
