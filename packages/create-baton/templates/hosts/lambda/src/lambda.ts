import { withWaitUntil } from '@batonjs/server/due';
import { answerUrl, type ResponseStream, type UrlEvent } from './function-url.ts';
import { server } from './main.ts';

/** What the runtime of Lambda gives. */
interface Context {
  getRemainingTimeInMillis(): number;
}
declare const awslambda: {
  streamifyResponse<
    Handler extends (event: UrlEvent, stream: ResponseStream, context: Context) => Promise<void>,
  >(handler: Handler): Handler;
  HttpResponseStream: { from(stream: ResponseStream, about: object): ResponseStream };
};

const works = new Set<Promise<unknown>>();
const answer = withWaitUntil(server, { waitUntil: (work) => works.add(work), maxMs: 50_000 });

/** A request at the function URL. What it leaves goes on after the reply: both within `Timeout` of `template.yaml`. */
export const handler = awslambda.streamifyResponse(async (event, stream) => {
  await answerUrl(event, answer, (about) => awslambda.HttpResponseStream.from(stream, about));
  await Promise.all(works);
  works.clear();
});

/** Works on all that is due: the schedule of `template.yaml` calls it, or a queue. It leaves three seconds of its time. */
export const run = (_event: unknown, context: Context) =>
  server.runDue({ forMs: context.getRemainingTimeInMillis() - 3_000 });
