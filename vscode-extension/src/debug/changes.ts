/** What the warp has shown, to mark what has changed since the last stop. Independent of the editor. */

export interface WarpRow {
  expression: string;
  type?: string;
  values: string[];
  error?: string;
  /** Whether the instruction that comes next names it. */
  isOfInstruction: boolean;
}

/** A group of lanes of the warp that are together. */
export interface WarpGroup {
  threadId: number;
  lanes: number[];
  line: number;
  waits: string;
  instruction: string;
  /** Where it meets other lanes, the nearest point first. */
  reconvergence: { line: number; lanes: number[] }[];
}

/** The answer to `ptx/warpWatch`. */
export interface WarpAnswer {
  lanes: number;
  active: boolean[];
  line: number;
  block: number[];
  warp: number;
  /** The lane in focus. */
  lane: number;
  threads: number[][];
  groups: WarpGroup[];
  rows: WarpRow[];
}

/** A row for the page: `before` are the values at the last stop of those that have changed. */
export interface MarkedRow extends WarpRow {
  isWatched: boolean;
  before: (string | null)[];
}

type Seen = Map<string, string[]>;

export class Changes {
  private now: Seen = new Map();
  private last: Seen = new Map();
  /** The registers of the instruction at the last stop, and at this one. */
  private shown: string[] = [];
  private shownLast: string[] = [];

  /** The kernel has stopped again. */
  stopped(): void {
    this.last = this.now;
    this.now = new Map();
    this.shownLast = this.shown;
    this.shown = [];
  }

  /** The session has ended. */
  forget(): void {
    this.stopped();
    this.stopped();
  }

  /** What else to ask for: the registers of the instruction before, as it may have written them. */
  earlier(watched: readonly string[]): string[] {
    return this.shownLast.filter((name) => !watched.includes(name));
  }

  /** The rows of an answer, with what has changed since the last stop. */
  marked({ rows, block, warp }: WarpAnswer, watched: readonly string[], isHex: boolean): MarkedRow[] {
    this.shown = rows.filter(({ isOfInstruction }) => isOfInstruction).map(({ expression }) => expression);
    return rows.map((row) => {
      const key = JSON.stringify([block, warp, isHex, row.expression]);
      this.now.set(key, row.values);
      const last = this.last.get(key);
      const before = row.values.map((value, lane) => {
        const earlier = last?.[lane];
        return earlier === undefined || earlier === value ? null : earlier;
      });
      return { ...row, isWatched: watched.includes(row.expression), before };
    });
  }
}
