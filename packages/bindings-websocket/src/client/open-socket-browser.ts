import { A2AError } from '@batonjs/protocol/errors';
import { SUBPROTOCOL } from '../wire/binding-name.ts';
import { closeCodes } from '../wire/close-code.ts';
import type { OpenSocket, Socket } from './socket.ts';

/** Opens a WebSocket of the browser, which sends cookies and no other credentials. */
export const openSocket: OpenSocket = ({ url, headers, openMs, onText, onClose }) => {
  const names = Object.keys(headers);
  if (names.length > 0)
    return Promise.reject(
      new A2AError(
        'UNSUPPORTED_OPERATION',
        `A browser cannot send the headers ${names.join(', ')} over WebSocket: use cookies, or another binding`,
      ),
    );
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, SUBPROTOCOL);
    let isOpen = false;
    const timer = setTimeout(() => {
      reject(new Error(`No WebSocket within ${openMs} ms`));
      socket.close();
    }, openMs);
    const opened: Socket = {
      get isOpen() {
        return socket.readyState === WebSocket.OPEN;
      },
      send: (text) => socket.send(text),
      close: (code) => socket.close(code === closeCodes.normal ? code : undefined),
      terminate: () => socket.close(),
      hold: () => {},
    };
    socket.addEventListener('open', () => {
      clearTimeout(timer);
      isOpen = true;
      resolve(opened);
    });
    socket.addEventListener('message', ({ data }) => {
      if (typeof data === 'string') onText(data, data.length);
    });
    // A browser does not say why.
    socket.addEventListener('error', () => reject(new Error('The WebSocket was not opened')));
    socket.addEventListener('close', ({ code }) => {
      clearTimeout(timer);
      if (isOpen) onClose(code);
      else reject(new Error('The WebSocket was not opened'));
    });
  });
};
