import { createHash, randomBytes } from 'node:crypto';
import { changeRecord, recordName } from '@batonjs/server/internals';
import type { RecordStore } from '@batonjs/store';
import type { LookLink, LookLinks } from './api/agent.ts';
import { RequestError } from './http/reply.ts';
import type { Viewer } from './options.ts';

/** How long a link lasts at most, in milliseconds. */
const longestMs = 30 * 86_400_000;
const mostLinks = 100;

/** A link with the SHA-256 of what opens it: its secret, and once that was exchanged its cookie. */
type KeptLink = LookLink & { readonly digest: string };

const randomText = (): string => randomBytes(32).toString('base64url');
const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** One sentence for all reasons: it tells no guess that it was near. */
const isOver = (): RequestError =>
  new RequestError(401, 'This link was opened before, has expired or was taken back: ask for another one');

export type Links = ReturnType<typeof linksOf>;

/**
 * The links of an inspector that are not over, in one record of the store, or without one in this process. `shows` is what
 * the inspector shows: another one on the same store, which may show more, does not know them.
 */
export function linksOf(store: RecordStore | undefined, shows: unknown, isLocal: boolean) {
  const record = recordName('inspector-links', digestOf(JSON.stringify(shows)));
  let own: readonly KeptLink[] = [];

  /** Writes what `decide` makes of the links, unless it is undefined; again if another process wrote. Resolves to them. */
  async function change(decide = (_: readonly KeptLink[]): readonly KeptLink[] | undefined => undefined) {
    let links: readonly KeptLink[] = [];
    const decideOn = (kept: readonly KeptLink[] = []) => {
      const live = kept.filter(({ expiresAt }) => Date.parse(expiresAt) > Date.now());
      const changed = decide(live);
      links = changed ?? live;
      return changed;
    };
    if (store) await changeRecord(store, record, decideOn, { ttlMs: longestMs });
    else own = decideOn(own) ?? own;
    return links;
  }

  return {
    async list(): Promise<LookLinks> {
      const links = (await change()).map(({ digest, ...link }) => link);
      return { links, areKept: store !== undefined, isLocal };
    },

    /** Makes a link. Resolves to its secret. Rejects with a `RequestError` if it may not be made. */
    async make(name: string, by: string | undefined, forMs: number): Promise<string> {
      if (!/^\P{Cc}{1,100}$/u.test(name) || !name.isWellFormed() || !(forMs > 0 && forMs <= longestMs))
        throw new RequestError(400, 'A link needs a name of 1 to 100 characters, and lasts at most 30 days');
      const [secret, now] = [randomText(), new Date()];
      const expiresAt = new Date(now.getTime() + forMs).toISOString();
      const about = { id: crypto.randomUUID(), name, by, at: now.toISOString(), expiresAt };
      await change((links) => {
        if (links.length < mostLinks) return [...links, { ...about, digest: digestOf(secret) }];
        throw new RequestError(409, `There are ${mostLinks} links: take one back first`);
      });
      return secret;
    },

    /** Exchanges a secret for a cookie, once. Rejects with a `RequestError` for anything else. */
    async open(secret: unknown, isSecure: boolean): Promise<string> {
      const [digest, cookie] = [digestOf(String(secret)), randomText()];
      const opens = { digest: digestOf(cookie), openedAt: new Date().toISOString() };
      const links = await change((links) => {
        const found = links.find((link) => link.digest === digest && !link.openedAt);
        return found && [...links.filter((link) => link !== found), { ...found, ...opens }];
      });
      const opened = links.find((link) => link.digest === opens.digest);
      if (!opened) throw isOver();
      const seconds = Math.ceil((Date.parse(opened.expiresAt) - Date.now()) / 1_000);
      // Without a path, it is that of the API of this mount alone.
      return `baton-look=${cookie}; HttpOnly; SameSite=Strict; Max-Age=${seconds}${isSecure ? '; Secure' : ''}`;
    },

    /** Who looks by the cookie of a link; undefined without one. Rejects with a `RequestError` if it opens nothing. */
    async viewerOf(cookies = ''): Promise<Viewer | undefined> {
      const [, cookie] = /(?:^|; ?)baton-look=([\w-]{43})(?:;|$)/.exec(cookies) ?? [];
      if (!cookie) return undefined;
      const digest = digestOf(cookie);
      const link = (await change()).find((link) => link.digest === digest && link.openedAt);
      if (!link) throw isOver();
      return { name: link.name };
    },

    /** Takes a link back. */
    async remove(id: string): Promise<void> {
      await change((links) => links.filter((link) => link.id !== id));
    },
  };
}
