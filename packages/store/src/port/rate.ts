/** How a bucket fills: it holds `burst` (a whole number, 1 or more), and gets one every `everyMs` (more than 0). */
export interface Rate {
  readonly burst: number;
  readonly everyMs: number;
}
