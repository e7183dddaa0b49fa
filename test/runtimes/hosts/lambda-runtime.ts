import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';

/**
 * What the runtime of Lambda does around a handler: `node lambda-runtime.ts file.mjs handler`. A handler that streams is
 * known by a symbol, and the status of its response comes before the body, with eight zeros between.
 */
const [file = '', name = ''] = process.argv.slice(2);
const api = `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime/invocation`;
const streaming = Symbol.for('aws.lambda.runtime.handler.streaming');

class ResponseStream extends Writable {
  readonly #request: ClientRequest;
  about: object | undefined;

  constructor(id: string) {
    super();
    this.#request = request(`${api}/${id}/response`, {
      method: 'POST',
      headers: {
        'content-type': 'application/octet-stream',
        'lambda-runtime-function-response-mode': 'streaming',
        'transfer-encoding': 'chunked',
      },
    });
  }

  override _write(chunk: Buffer, _: string, done: () => void): void {
    if (this.about) {
      this.#request.setHeader('content-type', 'application/vnd.awslambda.http-integration-response');
      this.#request.write(JSON.stringify(this.about));
      this.#request.write(Buffer.alloc(8));
      this.about = undefined;
    }
    if (chunk.length === 0) this.#request.flushHeaders();
    if (chunk.length === 0 || this.#request.write(chunk)) done();
    else this.#request.once('drain', done);
  }

  override _final(done: () => void): void {
    this.#request.once('response', (response) => response.resume()).end(done);
  }
}

Object.assign(globalThis, {
  awslambda: {
    streamifyResponse: (handler: object) => Object.assign(handler, { [streaming]: 'response' }),
    HttpResponseStream: {
      from: (stream: ResponseStream, about: object) => Object.assign(stream, { about }),
    },
  },
});

const handler = (await import(pathToFileURL(file).href))[name];
for (;;) {
  const next = await fetch(`${api}/next`);
  const id = next.headers.get('lambda-runtime-aws-request-id') ?? '';
  const deadline = Number(next.headers.get('lambda-runtime-deadline-ms'));
  const context = { awsRequestId: id, getRemainingTimeInMillis: () => deadline - Date.now() };
  const event = await next.json();
  const end = async (how: string, body: unknown) =>
    void (await fetch(`${api}/${id}/${how}`, { method: 'POST', body: JSON.stringify(body ?? null) }));
  try {
    if (handler[streaming]) {
      const stream = new ResponseStream(id);
      await handler(event, stream, context);
      if (!stream.writableFinished) await once(stream, 'finish');
    } else await end('response', await handler(event, context));
  } catch (error) {
    await end('error', { errorMessage: String(error) });
  }
}
