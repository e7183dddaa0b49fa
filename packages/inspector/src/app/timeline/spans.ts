import type { AgentEvent } from '@batonjs/client';
import type { Fact } from '@batonjs/lifecycle';
import type { Artifact } from '@batonjs/protocol';
import type { Call } from '../../api/model-calls.ts';
import { callName } from '../models/totals.ts';
import { attemptName, isTerminalState, stateName } from '../parts/words.ts';
import { chunkOf, type TimelineRow } from './timeline.ts';

/** Something that lasted: a bar of the waterfall. */
export interface Span {
  readonly kind: 'turn' | 'step' | 'wait' | 'child' | 'chunks' | Call['kind'];
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly from: number;
  /** Undefined while it lasts. */
  until: number | undefined;
  isFailed?: boolean;
  /** What a step called. */
  readonly call?: Call;
  /** The index of the row where it began. */
  readonly row: number;
}

/** An artifact that was sent in chunks. */
interface Sent {
  readonly name: string;
  chunks: number;
  readonly from: number;
  until: number;
  readonly row: number;
}

/** The most bars that are drawn: of a task with more, the last ones. */
const most = 100;

/** Where the name of a bar stands, and how much room it has there. */
interface PlaceOfName {
  readonly side: 'before' | 'inside' | 'after';
  readonly room: number;
}

/** So much room is enough for a name beside its bar. */
const enough = 40;

/** The place after a bar if it is enough, else the one with most room. All in hundredths of the line. */
export function placeOfName(left: number, width: number): PlaceOfName {
  const after = Math.max(0, 100 - left - width);
  if (after >= enough) return { side: 'after', room: after };
  const room = Math.max(left, width, after);
  return { side: room === width ? 'inside' : room === left ? 'before' : 'after', room };
}

/** What lasted in a task, in the order in which it began: attempts of turns, steps, waits, children, artifacts in chunks. */
export function spansOf(rows: readonly TimelineRow[]): readonly Span[] {
  const reader = new SpanReader();
  for (const [index, row] of rows.entries()) reader.read(row, index);
  reader.addArtifacts();
  return reader.spans.slice(-most).sort((one, other) => one.from - other.from || one.row - other.row);
}

/** Reads the rows of a task one after the other. */
class SpanReader {
  readonly spans: Span[] = [];
  readonly #children = new Map<string, Span>();
  readonly #artifacts = new Map<string, Sent>();
  #turn: Span | undefined;
  #wait: Span | undefined;
  /** When the step that ends next may have begun: the log says only when steps end. */
  #stepFrom = 0;
  #stepRow = 0;
  /** When the task was forked: what it took over took no time. */
  #forkedAt: number | undefined;

  read(timelineRow: TimelineRow, index: number): void {
    const { entry, isUnreadable } = timelineRow;
    if (isUnreadable || entry.at === undefined) return;
    const at = Date.parse(entry.at);
    const artifact = chunkOf(timelineRow);
    if (artifact?.artifactId) this.#chunk(artifact, at, index);
    if (entry.message) this.#endWait(at);
    const status = (entry.event as AgentEvent | undefined)?.statusUpdate?.status;
    if (status) this.#status(status.state, at, index);
    if (entry.call && at !== this.#forkedAt) this.#call(entry.call, at, index);
    else if (entry.fact) this.#fact(entry.fact, at, index);
  }

  /** One bar for each artifact that came in several chunks. */
  addArtifacts(): void {
    for (const { name, chunks, from, until, row } of this.#artifacts.values())
      if (chunks > 1)
        this.spans.push({ kind: 'chunks', name: `${name}, ${chunks} chunks`, from, until, row });
  }

  /** A call says how long it took, as no other step does. */
  #call(call: Call, until: number, row: number): void {
    const { kind, ms } = call;
    const isFailed = kind === 'tool' && call.isFailed;
    const span = { kind, name: callName(call), from: until - ms, until, row, call };
    this.spans.push(isFailed ? { ...span, isFailed } : span);
    this.#anchor(until, row);
  }

  #chunk({ artifactId: id, name = '' }: Artifact, at: number, row: number): void {
    const sent = this.#artifacts.get(id) ?? { name: name || id, chunks: 0, from: at, until: at, row };
    this.#artifacts.set(id, Object.assign(sent, { chunks: sent.chunks + 1, until: at }));
  }

  #fact(fact: Fact, at: number, row: number): void {
    switch (fact.type) {
      case 'message-received':
        if (fact.forked) this.#forkedAt = at;
        this.#endWait(at);
        return;
      case 'woken':
        this.#endWait(at);
        return;
      case 'turn-started':
        this.#endWait(at);
        this.#endTurn(at, this.#turn !== undefined);
        this.#turn = this.#begin('turn', attemptName(`Turn ${fact.turn}`, fact.attempt), at, row);
        this.#anchor(at, row);
        return;
      case 'turn-ended':
        this.#endTurn(at);
        return;
      case 'turn-failed':
        this.#endTurn(at, true);
        if (fact.retryAt) this.#wait = this.#begin('wait', 'Until the next attempt', at, row);
        return;
      case 'turn-paused':
        this.#endTurn(at);
        this.#wait = this.#begin('wait', 'Paused', at, row);
        return;
      case 'step-completed':
      case 'step-failed': {
        const step = this.#begin('step', fact.name, this.#stepFrom || at, this.#stepRow);
        step.until = at;
        if (fact.type === 'step-failed') step.isFailed = true;
        // Until its next try it waits, and does no work.
        if (fact.type === 'step-failed' && fact.retryAt) {
          const retryAt = Date.parse(fact.retryAt);
          this.#begin('wait', `Until ${fact.name} is tried again`, at, row).until = retryAt;
          this.#anchor(retryAt, row);
        } else this.#anchor(at, row);
        return;
      }
      case 'child-updated':
        this.#child(fact.name, fact.child.state, at, row);
        return;
      case 'status-changed':
        this.#status(fact.status.state, at, row);
        this.#anchor(at, row);
    }
  }

  #status(state: string, at: number, row: number): void {
    this.#endWait(at);
    if (/_(INPUT|AUTH)_REQUIRED$/.test(state)) this.#wait = this.#begin('wait', stateName(state), at, row);
    if (!isTerminalState(state)) return;
    this.#endTurn(at, /_(FAILED|REJECTED)$/.test(state));
    for (const child of this.#children.values()) child.until ??= at;
  }

  #child(name: string, state: string | undefined, at: number, row: number): void {
    const child = this.#children.get(name) ?? this.#begin('child', name, at, row);
    this.#children.set(name, child);
    if (state === undefined || !isTerminalState(state)) return;
    child.until = at;
    if (!state.endsWith('_COMPLETED')) child.isFailed = true;
  }

  #begin(kind: Span['kind'], name: string, from: number, row: number): Span {
    const span: Span = { kind, name, from, until: undefined, row };
    this.spans.push(span);
    return span;
  }

  #endTurn(at: number, isFailed = false): void {
    if (!this.#turn) return;
    this.#turn.until = at;
    if (isFailed) this.#turn.isFailed = true;
    this.#turn = undefined;
  }

  #endWait(at: number): void {
    if (this.#wait) this.#wait.until = at;
    this.#wait = undefined;
  }

  #anchor(at: number, row: number): void {
    this.#stepFrom = at;
    this.#stepRow = row;
  }
}
