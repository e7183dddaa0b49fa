import type { Scene } from './perform.ts';

type Pane = keyof Scene;

/** A line of a terminal, and when it appears, in seconds. */
interface Line {
  readonly pane: Pane;
  readonly row: number;
  readonly text: string;
  readonly at: number;
}

const pane = { width: 470, gap: 10, top: 34, line: 20, left: 14 };
const secondsPerLine = 0.45;
/** The whole picture stands this long before it begins again: a page that is opened, or printed, shows all of it. */
const secondsAtTheStart = 2.5;
const secondsAtTheEnd = 2.5;

/** Draws scenes as two terminals, one line after the other, again and again. The same scenes give the same text. */
export function draw(scenes: readonly Scene[]): string {
  const lines = timed(scenes);
  const seconds = lines.at(-1)!.at + secondsAtTheEnd;
  const height = pane.top + pane.line * (Math.max(...lines.map(({ row }) => row)) + 1) + 12;
  const width = pane.width * 2 + pane.gap;
  const frames = lines.map(({ at }, n) => {
    const percent = (time: number) => `${((100 * time) / seconds).toFixed(2)}%`;
    const soon = 0.001 * seconds;
    const hidden = `${percent(secondsAtTheStart + soon)},${percent(at)}{opacity:0}`;
    return `@keyframes l${n}{0%,${percent(secondsAtTheStart)}{opacity:1}${hidden}${percent(at + soon)},to{opacity:1}}`;
  });
  const texts = lines.map(({ pane: where, row, text }, n) => {
    const x = left(where) + pane.left;
    const y = pane.top + pane.line * (row + 1);
    const style = `animation:l${n} ${seconds.toFixed(2)}s infinite`;
    return `<text x="${x}" y="${y}" class="${kindOf(text)}" style="${style}">${escapeXml(text)}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    '<title>A server is killed in the middle of a task, and the client goes on</title>',
    `<desc>${escapeXml(lines.map(({ pane: where, text }) => `${where}: ${text}`).join('; '))}</desc>`,
    '<style>',
    'text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#c9d1d9;white-space:pre}',
    '.name{fill:#8b949e}.typed{fill:#7ee787}.kill{fill:#ff7b72;font-weight:bold}.state{fill:#79c0ff}',
    ...frames,
    '@media(prefers-reduced-motion:reduce){text{animation:none!important}}',
    '</style>',
    ...(['server', 'client'] as const).map((where) => terminal(where, height)),
    ...texts,
    '</svg>',
    '',
  ].join('\n');
}

/** Puts the lines in an order that does not depend on which process wrote first: page by page, the server before the client. */
function timed(scenes: readonly Scene[]): Line[] {
  const rows = { server: 0, client: 0 };
  const lines: Line[] = [];
  for (const scene of scenes) {
    const all = (['server', 'client'] as const).flatMap((where) =>
      ranked(scene[where]).map((ranked) => ({ ...ranked, pane: where })),
    );
    for (const { pane: where, text } of all.toSorted((a, b) => a.rank - b.rank))
      lines.push({
        pane: where,
        text,
        row: rows[where]++,
        at: secondsAtTheStart + 0.5 + lines.length * secondsPerLine,
      });
  }
  return lines;
}

/** Ranks each line by the page that it or a line before it names; what is typed last ends the scene. */
function ranked(lines: readonly string[]): { text: string; rank: number }[] {
  let page = 0;
  return lines.map((text, n) => {
    page = Number(/page (\d+)/.exec(text)?.[1] ?? page);
    return { text, rank: n > 0 && text.startsWith('$') ? Number.POSITIVE_INFINITY : page };
  });
}

function terminal(where: Pane, height: number): string {
  const frame = `x="${left(where) + 0.5}" y="0.5" width="${pane.width - 1}" height="${height - 1}" rx="8"`;
  const name = `<text x="${left(where) + pane.left}" y="24" class="name">${where}</text>`;
  return `<rect ${frame} fill="#0d1117" stroke="#30363d"/>${name}`;
}

const left = (where: Pane): number => (where === 'server' ? 0 : pane.width + pane.gap);

function kindOf(text: string): string {
  if (text.startsWith('$ kill')) return 'kill';
  if (text.startsWith('$')) return 'typed';
  return /^[A-Z]+$/.test(text) ? 'state' : 'said';
}

const escapeXml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
