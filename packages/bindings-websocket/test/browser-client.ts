// What the page of browser.test.ts loads.

export { connect, textOf } from '@batonjs/client';
export { webSocketClient } from '../src/client.ts';
