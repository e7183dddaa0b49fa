import type { Explanation } from './explanation.ts';

const grpc = 'packages/bindings-grpc/src/server';

const webSocket = 'packages/bindings-websocket/src';

export const explanationsOfBindings: readonly Explanation[] = [
  {
    file: `${webSocket}/sockets/upgrade-routes.ts`,
    line: "const [path = ''] = (request.url ?? '').split('?');",
    replacements: ['"Stryker was here!"'],
    why: 'The same: a request that a server got has a path, and a text that is split has a first part.',
  },
  {
    file: `${webSocket}/client/connection.ts`,
    line: '(this.#timer as { unref?: () => void }).unref?.();',
    replacements: ['(this.#timer as { unref?: () => void; }).unref()'],
    why: 'Noticed by the test in Chromium, which is not run here: timers of browsers are numbers.',
  },
  {
    file: `${webSocket}/client/web-socket-client.ts`,
    line: "urlOf: (address) => socketUrl(address)?.href.replace(/^ws/, 'http'),",
    replacements: ['/ws/'],
    why: 'The same: the address begins with `ws`, and only the first is replaced.',
  },
  {
    file: `${grpc}/answer-stream.ts`,
    line: 'return call.cancelled ? undefined : events?.next();',
    replacements: ['events.next'],
    why: 'No stream has it: it is asked for its next events only where it has some.',
  },
  {
    file: `${grpc}/answer-stream.ts`,
    line: "if (!call.cancelled) call.emit('error', toStatus(toResultError(error), [], method.errors));",
    replacements: ['true'],
    why: 'The same: grpc-js sends nothing any more to a call that was canceled.',
  },
  {
    file: `${grpc}/answer-unary.ts`,
    line: 'if (extensions.length > 0) call.sendMetadata(extensionsIn(extensions));',
    replacements: ['true', 'extensions.length >= 0'],
    why: 'The same for clients: grpc-js sends empty metadata before a result anyway.',
  },
  {
    file: `${grpc}/arrivals.ts`,
    line: 'this.#open.delete(arrival);',
    why: 'The same for clients: what is forgotten neither at its close nor when its time is over is forgotten at the other.',
  },
  {
    file: `${grpc}/reflection.ts`,
    line: 'if (call.writableEnded) return;',
    replacements: ['false'],
    why: 'Slower, but the same: what is written after the end is dropped.',
  },
];
