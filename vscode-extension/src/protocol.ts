/** The requests of `ptx-lsp` beyond LSP; see docs/protocol.md. */

import type { Position, Range } from 'vscode-languageclient';

export interface Asked {
  textDocument: { uri: string };
  kernel?: string;
  position?: Position;
  target?: string;
}

export interface Occupancy {
  blocksPerSm: number | null;
  warpsPerSm: number | null;
  percent: number | null;
  limiters: string[] | null;
}

/** What the launch adds to static shared memory, and what says so; `unknown` has no bytes. */
export interface DynamicShared {
  bytes: number | null;
  source: string;
}

export interface Kernel {
  name: string;
  /** Demangled and without arguments, if the name is mangled and the setting `demangle` wants it; absent from older servers. */
  displayName?: string;
  range: Range;
  selectionRange: Range;
  registers: {
    estimate: number | null;
    low: number | null;
    high: number | null;
    peakLive: number | null;
    limit: number | null;
  };
  /** What ptxas reports for the current text; null if it has not yet. */
  measured: {
    registers: number | null;
    spillStoreBytes: number | null;
    spillLoadBytes: number | null;
    stackBytes: number | null;
    sharedBytes: number | null;
    /** The version of ptxas. */
    ptxas: string;
  } | null;
  sharedBytes: number | null;
  dynamicShared: DynamicShared | null;
  localBytes: number | null;
  parameterBytes: number | null;
  threadsPerBlock: number | null;
  threadsSource: string | null;
  occupancy: Occupancy;
  branches: { uniform: number | null; divergent: number | null; unknown: number | null };
  findings: { error: number; warning: number; info: number; hint: number };
  canPreview: boolean;
}

export const KERNEL_REPORT = 'ptx/kernelReport';
export interface PtxasState {
  state: 'measured' | 'running' | 'failed' | 'absent' | 'off';
  version: string | null;
  problem: string | null;
}

export interface KernelReport {
  ptxVersion: string | null;
  target: string | null;
  targets: string[];
  ptxas: PtxasState;
  kernels: Kernel[];
}

/** The notification that ptxas has finished with a file, or has failed. */
export const MEASURED = 'ptx/measured';

/** Parameters that the user can vary. */
export interface Shape {
  threads: number;
  registers: number;
  sharedBytes: number;
}

export type Interval = Occupancy & { registers: number };

/** The x value, blocks per SM, warps per SM, and percent. */
export type CurvePoint = [number, number, number, number];

export const OCCUPANCY_CURVE = 'ptx/occupancyCurve';
export interface OccupancyCurve {
  kernel: string;
  displayName?: string;
  target: string;
  targets: string[];
  registersSource: string;
  /** At both ends of the estimated registers. */
  interval: [Interval, Interval] | null;
  staticSharedBytes: number | null;
  dynamicShared: DynamicShared | null;
  point: Shape & Occupancy;
  own: Shape;
  limits: Shape & { warpsPerSm: number; blocksPerSm: number };
  curves: Record<keyof Shape, CurvePoint[]>;
  steps: string[];
}

export const PRESSURE_PROFILE = 'ptx/pressureProfile';
export interface PressureProfile {
  kernel: string;
  range: Range;
  lines: [number, number][];
  peak: { line: number; live: number; registers: { name: string; size: number }[] } | null;
  limit: number | null;
}

export type Verdict = 'uniform' | 'divergent' | 'unknown';

export interface FlowBlock {
  id: number;
  label: string;
  range: Range;
  /** The first and last line of each of its blocks. */
  lineRanges: [number, number][];
  lines: string[];
  x: number;
  y: number;
  width: number;
  height: number;
  branch: Verdict | null;
  reasons: string[];
  /** The key of the collapsed group that the box stands for. */
  group: string | null;
}

/** Blocks that can be drawn as one box. */
export interface FlowGroup {
  key: string;
  kind: 'run' | 'branches' | 'loop';
  /** Its first block. */
  block: number;
  count: number;
  isCollapsed: boolean;
}

export interface FlowEdge {
  from: number;
  to: number;
  kind: string;
  condition: string;
  points: [number, number][];
}

export const CONTROL_FLOW = 'ptx/controlFlow';
export interface ControlFlow {
  kernel: string;
  displayName?: string;
  width: number;
  height: number;
  count: number;
  branches: Record<Verdict, number>;
  groups: FlowGroup[];
  blocks: FlowBlock[];
  edges: FlowEdge[];
}

export const MACHINE_CODE = 'ptx/machineCode';
export interface MachineCode {
  kernel: string;
  displayName?: string;
  range: Range;
  /** Why there is no machine code. */
  problem: string | null;
  measured: Kernel['measured'];
  sources: { path: string; uri: string | null }[];
  /** Lines of PTX, each with its source lines: the number of a source and a line, the innermost first. */
  lines: { line: number; source: [number, number][] }[];
  instructions:
    | {
        address: number;
        text: string;
        labels: string[];
        line: number | null;
        source: [number, number][];
        live: [number, number, number, number] | null;
      }[]
    | null;
}

/** With the texts that the page shows. */
export interface MachineCodeView extends MachineCode {
  /** The lines of the kernel, the first of which is line `first` of the document. */
  ptx: string[];
  first: number;
  /** The lines of each source; null if it cannot be read. */
  texts: (string[] | null)[];
  /** The figures of ptxas in words. */
  figures: string;
}

export const PREVIEW = 'ptx/preview';
export interface Preview {
  kernel: string;
  displayName?: string;
  missing?: string;
  launch?: { grid: number[]; block: number[]; line: number };
  buffers?: { name: string; displayName?: string; type: string; count: number; before: string[]; after: string[] }[];
  values?: { line: number; name: string; type: string; lanes: (string | null)[] }[];
  instructions?: number;
  findings?: { kind: string; message: string; line: number }[];
  error?: { message: string; kind: string; line: number | null; lanes: string[] } | null;
}

/** A kernel of one side; `line` counts from 1. */
export interface Compared {
  path: string;
  kernel: string;
  displayName?: string;
  line: number;
}

export interface Change {
  old: number | null;
  new: number | null;
  unit: string;
  /** measured, estimated or exact */
  says: string;
  worse: boolean;
  better: boolean;
  /** Of estimated registers, before and after. */
  intervals?: [[number, number] | null, [number, number] | null];
}

export interface Pair {
  old: Compared;
  new: Compared;
  likeness: number;
  same: boolean;
  worse: boolean;
  figures: Record<string, Change>;
  instructions: Record<string, number>;
  findings: Record<string, number>;
}

export const COMPARE = 'ptx/compare';
export interface Comparison {
  pairs: Pair[];
  new: Compared[];
  gone: Compared[];
  complete: boolean;
  /** The state of ptxas for both texts; absent from older servers. */
  ptxas?: { old: PtxasState; new: PtxasState };
}

/** A PTX text in a container. */
export interface Member {
  /** Its number in the container, and its target: `3:sm_90`. */
  name: string;
  uri: string;
  target: string;
  version: string;
  size: number;
  compression: string | null;
  /** The source file that the compiler was given. */
  source: string | null;
  /** The file of an archive that it is in. */
  part: string | null;
}

export const CONTAINER_MEMBERS = 'ptx/containerMembers';
export interface Container {
  format: string;
  members: Member[];
  /** What is not PTX, such as machine code. */
  others: { kind: string; target: string; count: number }[];
  notes: string[];
}

export const MEMBER_TEXT = 'ptx/memberText';
export interface MemberText {
  text: string;
}

export const MEMBER_KERNELS = 'ptx/memberKernels';
export interface MemberKernels {
  kernels: { name: string; displayName: string; selectionRange: Range }[];
}

/** A kernel in a cache of Triton, and what Triton says about it. */
export interface CachedKernel {
  name: string;
  uri: string;
  /** Milliseconds since 1970. */
  modified: number;
  target: string | null;
  warps: number | null;
  stages: number | null;
  clusterSize: number | null;
  sharedBytes: number | null;
  /** The URIs of the earlier stages of compilation. */
  files: string[];
}

export const TRITON_CACHE = 'ptx/tritonCache';
export interface TritonCache {
  /** The newest first. */
  kernels: CachedKernel[];
  omitted: number;
}

/** As the report on kernels, about a file that need not be open. */
export const FILE_REPORT = 'ptx/fileReport';
