import { render } from 'preact';
import { App } from './app.tsx';
import { takeToken } from './data/api.ts';

takeToken();
render(<App />, document.getElementById('app')!);
