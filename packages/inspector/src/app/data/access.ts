/** A token belongs to one mount: an origin may serve several inspectors. */
const key = () => `baton-inspector-token ${new URL(document.baseURI).pathname}`;

/** Takes the token out of the address, where it must not stay, and keeps it for this browser: a second tab needs it too. */
export function takeToken(): void {
  const token = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (!token) return;
  localStorage.setItem(key(), token);
  history.replaceState(null, '', `${location.pathname}#/`);
}

/** Keeps a token that a person pasted, or the address that contains it. */
export function keepToken(text: string): void {
  localStorage.setItem(key(), /#token=([\w-]+)/.exec(text)?.[1] ?? text.trim());
}

/** The headers that open the inspector. */
export function accessHeaders(): Record<string, string> {
  const token = localStorage.getItem(key());
  return token ? { authorization: `Bearer ${token}` } : {};
}
