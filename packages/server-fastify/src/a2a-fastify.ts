import { A2AError } from '@batonjs/protocol/errors';
import type { AgentServer } from '@batonjs/server';
import { mustHandle } from '@batonjs/server/adapter';
import { answer, mountOf, type Parsed, readIncomingBody, splitTarget } from '@batonjs/server-node/adapter';
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify';

/**
 * Serves an agent from an app of Fastify 5, below the prefix of the plugin:
 * `app.register(a2aFastify(server), { prefix: '/agent' })`. Every `A2AError` of a hook is answered as an error of the protocol.
 * The agent's card has the address of the request only for a request from this machine to this machine, or if Fastify trusts
 * its proxy (`trustProxy`), which must then set `Host`. Otherwise give the server its `publicUrl`.
 */
export function a2aFastify(server: Pick<AgentServer, 'handle'>): FastifyPluginCallback {
  mustHandle(server, 'a2aFastify');
  return (app, _options, done) => {
    const serve = async (request: FastifyRequest, reply: FastifyReply, refusal?: A2AError) => {
      const { raw: res } = reply;
      const { mount, below } = splitTarget(request.raw.url ?? '/', app.prefix);
      // Hooks leave their headers at the reply, which Fastify does not send.
      for (const [name, value] of Object.entries(reply.getHeaders()))
        if (value !== undefined) res.setHeader(name, value);
      try {
        await answer(server, request.raw, res, {
          target: below,
          readBody: (limit) => readIncomingBody(bodyOf(request), limit),
          ...mountOf(request.socket, {
            protocol: request.protocol,
            host: request.headers.host,
            path: mount,
            trusted: request.ips !== undefined,
          }),
          remoteAddress: request.ip,
          refusal,
        });
      } catch (error) {
        if (!res.headersSent) throw error;
        res.destroy();
      }
      reply.hijack();
    };
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload));
    app.setErrorHandler((error, request, reply) => {
      if (A2AError.is(error)) return serve(request, reply, error);
      // Fastify says so of every body whose type it cannot read. The server refuses it in the form of the binding.
      if (Object(error).code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return serve(request, reply);
      throw error;
    });
    app.all('/', (request, reply) => serve(request, reply));
    app.all('/*', (request, reply) => serve(request, reply));
    done();
  };
}

/** Where the body is read: from the request, or from the stream that a `preParsing` hook made of it. */
function bodyOf({ raw, body }: FastifyRequest): Parsed {
  const payload = body as Parsed | undefined;
  // The hook has undone the compression that the headers of the request declare.
  return payload === undefined || payload === raw ? raw : Object.assign(payload, { headers: {} });
}
