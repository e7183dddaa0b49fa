import { exampleOf } from './curl-line.ts';
import { type Gallery, type GalleryAgents, openGallery } from './gallery.ts';
import { converse } from './introduction/converse.ts';
import { fitted, introduction } from './introduction/introduction.ts';
import { lateLog } from './introduction/late-log.ts';
import { readSettings } from './settings.ts';
import { StartError } from './start-error.ts';

const say = (line = ''): void => void process.stdout.write(`${line}\n`);

/** What the parent of this process needs. */
export interface StartOptions {
  /** The gallery was started before and killed: it prints one line. */
  readonly isAgain?: boolean;
  readonly onUrl?: (url: string) => void;
  /** Kills this process, which its parent starts again. */
  readonly kill?: () => void;
}

/** Serves agents until a signal, and prints an example conversation. A `StartError` is printed in one line, with exit code 1. */
export async function startGallery(
  agents: GalleryAgents,
  env: Readonly<Record<string, string | undefined>>,
  { isAgain = false, onUrl, kill }: StartOptions = {},
): Promise<void> {
  const log = lateLog();
  try {
    const gallery = await openGallery(agents, { ...readSettings(env), kill, logger: log.logger });
    closeOnSignal(gallery);
    onUrl?.(gallery.localUrl);
    if (isAgain) say(`Started again at ${gallery.localUrl}`);
    else await introduce(gallery);
    log.open();
  } catch (error) {
    log.open();
    if (!(error instanceof StartError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}

/** Says where everything is, and has a conversation with the first agent. */
async function introduce(gallery: Gallery): Promise<void> {
  const { localUrl, exhibits } = gallery;
  const [first] = exhibits;
  const isColoured = process.stdout.isTTY === true && !process.env.NO_COLOR;
  for (const line of introduction(gallery, isColoured)) say(line);
  say();
  say('  A conversation with it, over HTTP:');
  try {
    for await (const line of converse(localUrl, exampleOf(first))) say(fitted(line));
  } catch (error) {
    say(`  It could not be had at ${first.url}: ${error instanceof Error ? error.message : error}`);
  }
  say();
  say('  Ctrl-C stops the server.');
}

/** Closes the gallery on the first signal. The process ends when running turns have finished. */
function closeOnSignal(gallery: Gallery): void {
  let closing = false;
  const close = () => {
    // A terminal and a package manager may both pass on the same Ctrl-C.
    if (closing) return;
    closing = true;
    say('Finishing what runs …');
    void gallery.close().then(() => say('Bye.'));
  };
  process.on('SIGINT', close).on('SIGTERM', close);
}
