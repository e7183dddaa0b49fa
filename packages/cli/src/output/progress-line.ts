import type { Progress } from '@batonjs/extensions/client';
import type { Io } from '../io.ts';
import { cleanLine } from './clean.ts';

const frames = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const barWidth = 24;
const frameMs = 100;

/** When a line may be drawn: for a person who watches standard error, and for nothing else. */
export interface ProgressConditions {
  readonly isJson: boolean;
  readonly isStreaming: boolean;
  readonly isAsync: boolean;
  readonly isDebug: boolean;
  readonly progress: 'auto' | 'never';
}

export const mayDraw = ({ stderr, env }: Pick<Io, 'stderr' | 'env'>, when: ProgressConditions): boolean =>
  stderr.isTTY === true &&
  env.TERM !== 'dumb' &&
  when.progress !== 'never' &&
  !(when.isJson || when.isStreaming || when.isAsync || when.isDebug);

/** One line on standard error that is drawn over itself: a bar where the progress is known, else a spinner. */
export class ProgressLine {
  readonly #io: Pick<Io, 'stderr' | 'env'>;
  #timer: NodeJS.Timeout | undefined;
  #frame = 0;
  #text = '';
  #progress: Progress | undefined;
  #isDrawn = false;

  constructor(io: Pick<Io, 'stderr' | 'env'>) {
    this.#io = io;
  }

  start(): void {
    this.#timer ??= setInterval(() => {
      this.#frame += 1;
      this.draw();
    }, frameMs).unref();
    this.draw();
  }

  update(text: string, progress: Progress | undefined): void {
    this.#text = text;
    this.#progress = progress;
    this.draw();
  }

  draw(): void {
    if (!this.#timer) return;
    this.#isDrawn = true;
    this.#io.stderr.write(`\r\u001b[2K${this.#line()}`);
  }

  /** Takes the line away. It comes back with the next frame. */
  erase(): void {
    if (!this.#isDrawn) return;
    this.#isDrawn = false;
    this.#io.stderr.write('\r\u001b[2K');
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.erase();
  }

  #line(): string {
    const { env, stderr } = this.#io;
    const colour = (code: number, text: string) => (env.NO_COLOR ? text : `\u001b[${code}m${text}\u001b[0m`);
    const width = Math.max(10, (stderr.columns ?? 80) - barWidth - 10);
    const text = cleanLine(this.#text).slice(0, width);
    if (!this.#progress || this.#progress.total === 0)
      return `${colour(36, frames[this.#frame % frames.length]!)} ${text}`;
    const share = this.#progress.progress / this.#progress.total;
    const filled = Math.round(share * barWidth);
    const bar = colour(36, '█'.repeat(filled)) + '░'.repeat(barWidth - filled);
    return `${bar} ${String(Math.round(share * 100)).padStart(3)} % ${text}`;
  }
}
