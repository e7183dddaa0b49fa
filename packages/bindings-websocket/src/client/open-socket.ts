import type { IncomingMessage } from 'node:http';
import type { Socket as NetSocket } from 'node:net';
import { fromWire } from '@batonjs/bindings';
import { A2AError } from '@batonjs/protocol/errors';
import { WebSocket } from 'ws';
import { withChallenge } from '../wire/answer-frame.ts';
import { SUBPROTOCOL } from '../wire/binding-name.ts';
import type { OpenSocket, Socket } from './socket.ts';

/** The most bytes of a refusal that are read. */
const longestRefusal = 65_536;

/** Opens a WebSocket of Node.js. */
export const openSocket: OpenSocket = ({ url, headers, tls, maxBytes, openMs, onText, onClose }) =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url, SUBPROTOCOL, {
      ...tls,
      headers,
      maxPayload: maxBytes,
      handshakeTimeout: openMs,
      perMessageDeflate: true,
    });
    let connection: NetSocket | undefined;
    let isOpen = false;
    const opened: Socket = {
      get isOpen() {
        return socket.readyState === WebSocket.OPEN;
      },
      send: (text) => socket.send(text),
      close: (code) => socket.close(code),
      terminate: () => socket.terminate(),
      hold: (isHeld) => void (isHeld ? connection?.ref() : connection?.unref()),
    };
    socket.on('upgrade', (response) => {
      connection = response.socket;
    });
    socket.on('open', () => {
      isOpen = true;
      resolve(opened);
    });
    socket.on('message', (data, isBinary) => {
      if (!isBinary) onText(String(data), (data as Buffer).length);
    });
    socket.on('close', (code) => {
      if (isOpen) onClose(code);
    });
    socket.on('error', (error) => reject(reasonOf(error)));
    socket.on('unexpected-response', (_, response) => {
      // The response loses it at its end.
      const { socket: refusing } = response;
      refusalOf(response).then((refusal) => {
        // Node.js would keep it for the next request.
        refusing.destroy();
        reject(refusal);
      });
    });
  });

/** The error of an agent that speaks another sub-protocol, which trying again does not change; any other as it is. */
const reasonOf = (error: Error): Error =>
  /subprotocol/i.test(error.message)
    ? new A2AError('INVALID_AGENT_RESPONSE', `The agent does not speak ${SUBPROTOCOL}`, { cause: error })
    : error;

/** The error in the response that refused an upgrade. */
async function refusalOf(response: IncomingMessage): Promise<A2AError> {
  const { statusCode: status, headers } = response;
  let text = '';
  try {
    for await (const chunk of response.setEncoding('utf8')) {
      text += chunk;
      if (text.length > longestRefusal) break;
    }
  } catch {
    // The status says enough.
  }
  const { message, details } = errorIn(text);
  const retryAfter = headers['retry-after'];
  const refusal = fromWire({ message, details, status, retryAfter });
  const challenge = headers['www-authenticate'];
  return challenge === undefined ? refusal : withChallenge(refusal, challenge);
}

function errorIn(text: string): { readonly message?: unknown; readonly details?: unknown } {
  try {
    const { error } = Object(JSON.parse(text)) as { error?: unknown };
    return Object(error) as { message?: unknown; details?: unknown };
  } catch {
    return {};
  }
}
