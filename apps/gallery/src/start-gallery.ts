import { converse } from './converse.ts';
import { curlLine, exampleOf } from './curl-line.ts';
import { type Gallery, type GalleryAgents, openGallery } from './gallery.ts';
import { readSettings } from './settings.ts';
import { StartError } from './start-error.ts';

const say = (line = ''): void => void process.stdout.write(`${line}\n`);

/** Serves agents in this process until a signal ends it, and shows a newcomer around. What prevents it is one line and exit code 1. */
export async function startGallery(
  agents: GalleryAgents,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  try {
    const gallery = await openGallery(agents, readSettings(env));
    closeOnSignal(gallery);
    await introduce(gallery);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}

async function introduce({ localUrl, exhibits }: Gallery): Promise<void> {
  const [first] = exhibits;
  say();
  say(`Agents at ${localUrl}: ${exhibits.map(({ name }) => name).join(', ')}`);
  say(`The card: ${localUrl}/.well-known/agent-card.json`);
  say();
  say('Try it:');
  say(curlLine(first));
  say();
  say('A conversation with it, over HTTP:');
  try {
    for await (const line of converse(localUrl, exampleOf(first))) say(`  ${line}`);
  } catch (error) {
    say(`  It could not be had at ${first.url}: ${error instanceof Error ? error.message : error}`);
  }
  say();
  say('Ctrl-C stops the server.');
}

/** The first signal lets what runs finish; then nothing is left that keeps the process. */
function closeOnSignal(gallery: Gallery): void {
  let closing = false;
  const close = () => {
    // A terminal and a package manager may both hand on the same Ctrl-C.
    if (closing) return;
    closing = true;
    say('Finishing what runs …');
    void gallery.close().then(() => say('Bye.'));
  };
  process.on('SIGINT', close).on('SIGTERM', close);
}
