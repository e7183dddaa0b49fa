import type { IncomingMessage } from 'node:http';
import type { Socket as NetSocket } from 'node:net';
import { httpJsonClient, type IncomingReply } from '@batonjs/bindings';
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
      refusalOf(response, url).then((refusal) => {
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
async function refusalOf(response: IncomingMessage, url: string): Promise<A2AError> {
  const { statusCode: status = 0, headers } = response;
  let text = '';
  try {
    for await (const chunk of response.setEncoding('utf8')) {
      text += chunk;
      if (text.length > longestRefusal) break;
    }
  } catch {
    // The status says enough.
  }
  const reply = {
    status,
    body: text,
    url,
    headers: { get: (name: string) => (headers[name] === undefined ? null : String(headers[name])) },
  };
  const refusal = errorOf(reply);
  const challenge = headers['www-authenticate'];
  return challenge === undefined ? refusal : withChallenge(refusal, challenge);
}

/** The error of an answer that opens no WebSocket. */
function errorOf(reply: IncomingReply): A2AError {
  try {
    httpJsonClient.decodeReply({ operation: 'GetTask', params: {} }, reply);
  } catch (error) {
    if (A2AError.is(error)) return error;
  }
  return new A2AError('INVALID_AGENT_RESPONSE', `${reply.url} opens no WebSocket`);
}
