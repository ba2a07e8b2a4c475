// SPDX-License-Identifier: Apache-2.0
// Made from /openapi.json by make_types.py: change src/operations of Adder, or that.
// What Adder takes and answers, as it is on the wire.
import type { Files } from "./bodies.js";

/** Why a run failed. */
export interface RunError {
  /** The exception's class, or the kind of failure. */
  type: string;
  /** One sentence. */
  message: string;
  /** As Python prints it, with the lines of the caller's code only. */
  traceback: string | null;
  /** The line of the caller's code. */
  line: number | null;
  /** What to do about it, where that is known. */
  hint: string | null;
}

/** What the guard of the profile refused. */
export interface Violation {
  /** The guard's rule. */
  rule: string;
  /** From 1. */
  line: number;
  /** From 0. */
  column: number;
  /** The beginning of the code there. */
  text: string;
  /** What to do instead. */
  hint: string | null;
}

/** What the sandbox refused, or a limit that was met without ending the run. */
export interface Denial {
  /** network, file, write, call, install, processes, space, file_size, open_files or memory. */
  kind: string;
  /** What was refused. */
  detail: string;
  /** What to do instead, in one sentence. */
  hint: string;
}

/** A host that was reached through the proxy. */
export interface Connection {
  /** Its name. */
  host: string;
  /** The port. */
  port: number;
  /** How many. */
  connections: number;
  /** What came from it. */
  in_bytes: number;
  /** What went to it. */
  out_bytes: number;
}

/** A file that code made or changed. With `file_id` it can be had from `files`. */
export interface MadeFile {
  /** Under which it is kept; null where it is not. */
  file_id: string | null;
  /** Relative to /work; below tmp/ for those in /tmp. */
  name: string;
  /** What it looks like. */
  mime: string;
  /** Its size. */
  bytes: number;
  /** The digest of its content. */
  sha256: string;
  /** A signed path from which it can be downloaded for a while. */
  url: string | null;
}

/** What a run changed in a work directory. */
export interface Change {
  /** Below the directory. */
  path: string | null;
  /** created, changed, deleted or replaced. */
  change: string;
  /** file, link, directory or other. */
  type_before: string | null;
  /** What it is now. */
  type: string | null;
  /** Of files. */
  bytes_before: number | null;
  /** Of files. */
  bytes: number | null;
  /** Permissions as octal text. */
  mode_before: string | null;
  /** Permissions as octal text. */
  mode: string | null;
  /** Of a link. */
  target: string | null;
  /** No text, or longer than what is compared. */
  binary: boolean;
  /** Of text, as diff -u shows it without its head. */
  diff: string | null;
  /** The diff is cut or left out. */
  truncated: boolean;
}

/** The session that a run was a cell of. */
export interface Cell {
  /** Which it is. */
  session_id: string;
  /** Its name. */
  name: string | null;
  /** The number of this cell, from 1. */
  cell: number;
  /** How many there are now. */
  variables: number;
  /** When it ends if nothing uses it; null: it has ended. */
  expires_in_ms: number | null;
  /** The same in words. */
  status: string;
}

/** What a run used. */
export interface Usage {
  /** Waiting for a sandbox. */
  queue_ms: number;
  /** By the clock. */
  wall_ms: number;
  /** Of the processors. */
  cpu_ms: number;
  /** The most that it held. */
  peak_memory_bytes: number | null;
}

/** The container that a run was in. */
export interface Container {
  /** docker or podman. */
  engine: string | null;
  /** The engine's version. */
  engine_version: string | null;
  /** The OCI runtime, such as runc. */
  runtime: string | null;
  /** The image, by its name. */
  image: string | null;
  /** Adder's version when it was built. */
  version: string | null;
  /** The image, by its digest. */
  digest: string | null;
}

/** How a run was isolated. */
export interface Isolation {
  /** That was in force, 0 to 4. */
  level: number;
  /** The mechanisms that this host lacks. */
  missing: string[];
  /** native: a sandbox of the host's; or container. */
  backend: string;
  /** The container; null in a sandbox of the host's. */
  container: Container | null;
}

/** What became of a run: docs/results.md of Adder says what each member is. */
export interface ResultData {
  /** 1. A field may be added within a version; what one means does not change. */
  schema_version: number;
  /** A UUID of version 7. */
  run_id: string;
  /** How the run ended. */
  outcome: 
    | "ok"
    | "error"
    | "refused"
    | "approval_required"
    | "timeout"
    | "cpu_limit"
    | "memory_limit"
    | "output_limit"
    | "crashed"
    | "cancelled"
    | "busy"
    | "failed"
    | (string & {});
  /** The code's own, or the outcome's. */
  exit_code: number;
  /** The signal that ended the code, when one did. */
  signal: string | null;
  /** What the code wrote; of long output head and tail. */
  stdout: string;
  /** The same of standard error. */
  stderr: string;
  /** How much it wrote. */
  stdout_bytes: number;
  /** How much it wrote to standard error. */
  stderr_bytes: number;
  /** Whether stdout or stderr is head and tail. */
  truncated: boolean;
  /** Under which the whole output is kept, where it is. */
  result_id: string | null;
  /** The value of the last expression, by MIME type. */
  value: Record<string, unknown> | null;
  /** What the code displayed: objects by MIME type, pictures in base64. */
  displays: Array<Record<string, unknown>>;
  /** Matplotlib's figures as data, each with title and charts, as the code's process told them. */
  charts: Array<Record<string, unknown>>;
  /** What went wrong. */
  error: RunError | null;
  /** What the guard refused. */
  violations: Violation[];
  /** What the sandbox refused, and limits that were met. */
  denials: Denial[];
  /** The hosts that were reached through the proxy. */
  network: Connection[];
  /** The files that the code made or changed. */
  files: MadeFile[];
  /** What it changed in an overlay of a work directory. */
  changes: Change[];
  /** What else a caller should know. */
  warnings: string[];
  /** What somebody has to approve, or the review that waits for a yes. */
  approval_id: string | null;
  /** The session that the run was a cell of. */
  session: Cell | null;
  /** What it used. */
  usage: Usage;
  /** All limits as they were applied. */
  limits: AppliedLimits;
  /** Null when there was no sandbox. */
  isolation: Isolation | null;
}

/** A run that is under way. */
export interface RunningRun {
  /** Its id. */
  run_id: string;
  /** running or ended. */
  state: string;
  /** In UTC. */
  started: string | null;
  /** Whose it is. */
  owner: string | null;
  /** To which it belongs. */
  conversation: string | null;
  /** The session that it is a cell of. */
  session: string | null;
  /** By which way it came. */
  front_end: string | null;
}

/** A run as it is: `result` while it is held, `record` where records are kept. */
export interface RunState {
  /** Its id. */
  run_id: string;
  /** running or ended. */
  state: string;
  /** In UTC. */
  started: string | null;
  /** Whose it is. */
  owner: string | null;
  /** To which it belongs. */
  conversation: string | null;
  /** The session that it is a cell of. */
  session: string | null;
  /** By which way it came. */
  front_end: string | null;
  /** Of one that ran in the background, while it is held. */
  result: ResultData | null;
  /** Of one that has ended, where records are kept. */
  record: RunRecord | null;
}

/** A checkpoint of a session. */
export interface Checkpoint {
  /** Its id. */
  checkpoint_id: string;
  /** Its name. */
  name: string | null;
  /** The last cell before it. */
  cell: number;
  /** How many there were. */
  variables: number;
  /** When it was made. */
  created: string;
  /** What it holds. */
  memory_bytes: number;
  /** What the session and the checkpoint still share. */
  warnings: string[];
}

/** A session. */
export interface SessionInfo {
  /** A UUID of version 7. */
  session_id: string;
  /** Its name. */
  name: string | null;
  /** Its owner. */
  owner: string | null;
  /** Its interpreter and packages. */
  environment: string | null;
  /** Its limits and rules. */
  profile: string | null;
  /** idle, busy or ended. */
  state: string;
  /** How many it ran. */
  cells: number;
  /** How many it has. */
  variables: number;
  /** When it was made. */
  created: string;
  /** Since it was used; null unless it is idle. */
  idle_ms: number | null;
  /** When it ends if nobody uses it; null unless it is idle. */
  expires_in_ms: number | null;
  /** What it held when it was last looked at. */
  memory_bytes: number;
  /** The session that it is a branch of. */
  parent: string | null;
  /** Its checkpoints. */
  checkpoints: Array<{
    /** Its id. */
    checkpoint_id: string;
    /** Its name. */
    name: string | null;
    /** The last cell before it. */
    cell: number;
    /** How many there were. */
    variables: number;
    /** When it was made. */
    created: string;
    /** What it holds. */
    memory_bytes: number;
  }>;
  /** ipython or plain. */
  shell: string | null;
  /** How it is isolated. */
  isolation: Isolation | null;
  /** Why it has ended. */
  reason: string | null;
}

/** A variable of a session. */
export interface Variable {
  /** Its name. */
  name: string;
  /** Its class. */
  type: string;
  /** Of tables and arrays. */
  shape: number[] | null;
  /** With the contents for tables and arrays. */
  bytes: number | null;
  /** Of one that was named. */
  value?: string | undefined;
}

/** A cell that a session ran. */
export interface HistoryCell {
  /** Its number. */
  cell: number;
  /** What it ran. */
  code: string;
  /** How it ended. */
  outcome: string;
  /** In UTC. */
  started: string;
  /** How long it took. */
  wall_ms: number;
}

/** The cells of a session. */
export interface History {
  /** The oldest first. */
  cells: HistoryCell[];
  /** How many of the first are no longer on record. */
  dropped: number;
}

/** A cell that ran again: how it ended, and had ended `before`; `differs` names what is not as it was. */
export interface ReplayedCell {
  /** Its number. */
  cell: number;
  /** How it ended. */
  outcome: string;
  /** How it had ended, as is on record. */
  before: string;
  /** Why it failed. */
  error: {
    /** The exception's. */
    type: string | null;
    /** Its text. */
    message: string | null;
  } | null;
  /** What of the result is not as it was: outcome, stdout, stderr, value, displays or error. */
  differs: string[];
  /** Its result. */
  result: ResultData;
}

/** What came of a replay. */
export interface Replay {
  /** The new session. */
  session: SessionInfo;
  /** Those that were run. */
  cells: ReplayedCell[];
  /** Those that were not, since they ended the session. */
  left_out: number[];
}

/** A file that is kept. */
export interface StoredFile {
  /** What it is asked for by; ids sort by the time of their making. */
  file_id: string;
  /** The last part of the name that it was given, cleaned. */
  name: string;
  /** generated, table, uploaded, stdout or stderr. */
  kind: string;
  /** By the name's ending, else by the first bytes. */
  mime: string;
  /** Its size. */
  bytes: number;
  /** The digest of its content. */
  sha256: string;
  /** In UTC. */
  created: string;
  /** In UTC. */
  expires: string;
  /** Whose it is. */
  owner: string | null;
  /** To which it belongs. */
  conversation: string | null;
  /** In which it was made. */
  session: string | null;
  /** Which run made it. */
  run_id: string | null;
  /** A signed path. Anyone who has it can read the file until it expires. */
  url: string | null;
}

/** Some of the files. */
export interface FilePage {
  /** The newest first. */
  files: StoredFile[];
  /** What to give as `before` for the next page; null: there is none. */
  next: string | null;
}

/** A line in which the pattern was found. */
export interface Line {
  /** Its number, from 1. */
  line: number;
  /** Where its text is. */
  offset: number;
  /** Of a long line what is around the match. */
  text: string;
}

/** A part of long output: `text`, or with `grep` the `lines` in which it was found. */
export interface Part {
  /** Whose output it is. */
  result_id: string;
  /** stdout or stderr. */
  stream: string;
  /** Where the part begins. */
  offset: number;
  /** Where to go on. */
  next_offset: number;
  /** How much there is. */
  total_bytes: number;
  /** Whether this was the last part. */
  at_end: boolean;
  /** Whole characters. */
  text?: string | undefined;
  /** Those that match. */
  lines?: Line[] | undefined;
}

/** Some of the records. */
export interface RecordPage {
  /** The newest first. */
  records: RecordSummary[];
  /** What to give as `before` for the next page; null: there is none. */
  next: string | null;
}

/** A tool that the caller may call. */
export interface Tool {
  /** By which it is called. */
  name: string;
  /** A few words. */
  title: string;
  /** For a model. */
  description: string;
  /** JSON Schema of its arguments. */
  inputSchema: Record<string, unknown>;
  /** JSON Schema of its replies. */
  outputSchema: Record<string, unknown>;
  /** What it may do, as MCP says it. */
  annotations: Record<string, unknown>;
}

/** What a tool replied, in the form of its output schema. */
export interface ToolReplyData {
  /** As the tool's outputSchema says. */
  reply: Record<string, unknown>;
  /** Whether the tool could not do it, or its code failed. */
  is_error: boolean;
  /** 0; of code that failed 1, or as results have it. */
  exit_code: number;
}

/** What waits for a yes, or had its answer. */
export interface Approval {
  /** Its id. */
  approval_id: string;
  /** run, or changes of a directory. */
  kind?: string | undefined;
  /** pending, approved or denied. */
  state: string;
  /** To which it belongs. */
  conversation?: string | null | undefined;
  /** Of everything that the approval covers. */
  digest?: string | undefined;
  /** Of changes: the review. */
  review_id?: string | null | undefined;
  /** Why it was denied. */
  reason?: string | null | undefined;
  /** In UTC. */
  asked?: string | undefined;
  /** How long it will still wait. */
  expires_in_ms?: number | undefined;
  /** Of changes: what came of them. */
  outcome?: Record<string, unknown> | null | undefined;
  /** The requester's description of the code. */
  description?: string | null | undefined;
  /** Under whose rules it would run. */
  profile?: string | null | undefined;
  /** In which interpreter. */
  environment?: string | null | undefined;
  /** What the code calls itself. */
  name?: string | null | undefined;
  /** The directory of the host that it would work in. */
  workdir?: {
    /** Of the directory. */
    path: string;
    /** read, overlay, review or rw. */
    mode: string;
  } | null | undefined;
  /** What would run. */
  code?: string | null | undefined;
  /** How many changes, if it is about changes. */
  changes?: number | undefined;
  /** The session it is a cell of. */
  session?: string | null | undefined;
  /** The kind of sandbox. */
  isolation?: string | undefined;
  /** Of the code. */
  lines?: number | undefined;
  /** Of the code. */
  first_line?: string | null | undefined;
  /** What it is given. */
  files?: Array<{
    /** As the run would see it. */
    name: string;
    /** Its size. */
    bytes: number | null;
    /** The digest of its content. */
    sha256: string | null;
    /** What an approval covers: content, identity or nothing. */
    bound: string;
  }> | undefined;
  /** Standard input. */
  stdin?: {
    /** As the run would see it. */
    name: string;
    /** Its size. */
    bytes: number | null;
    /** The digest of its content. */
    sha256: string | null;
    /** What an approval covers: content, identity or nothing. */
    bound: string;
  } | null | undefined;
  /** Of its environment. */
  variables?: Record<string, string | null> | undefined;
  /** Of its variables. */
  values?: Record<string, unknown> | undefined;
  /** What sys.argv has after the name. */
  arguments?: Array<string | null> | undefined;
  /** Those that were asked for. */
  limits?: Record<string, number> | undefined;
}

/** What a run would change in a work directory. */
export interface Review {
  /** Its id; that of its approval as well. */
  review_id: string;
  /** waiting, broken off, committed or dropped. */
  state: string;
  /** The one that would be changed. */
  directory?: string | undefined;
  /** To which it belongs. */
  conversation?: string | null | undefined;
  /** In UTC. */
  created?: string | undefined;
  /** Of the changes: what a yes is for. */
  digest?: string | undefined;
  /** How many are changed. */
  files?: number | undefined;
  /** Their total size. */
  bytes?: number | undefined;
  /** Each of them. */
  changes?: Change[] | undefined;
}

/** Who ran what, and how it ended. */
export interface RunRecord {
  /** As in the result. */
  run_id: string | null;
  /** When it was asked for. */
  started: string | null;
  /** Who asked. */
  owner: string | null;
  /** In which conversation. */
  conversation: string | null;
  /** By which way. */
  front_end: string | null;
  /** As what. */
  role: string | null;
  /** With which tool. */
  tool: string | null;
  /** Under which rules. */
  profile: string | null;
  /** In which interpreter. */
  environment: string | null;
  /** In which session. */
  session_id: string | null;
  /** As which cell. */
  cell: number | null;
  /** How it ended. */
  outcome: string | null;
  /** As in the result. */
  exit_code: number | null;
  /** What it used. */
  usage: {
    /** Waiting for a sandbox. */
    queue_ms: number | null;
    /** By the clock. */
    wall_ms: number | null;
    /** Of the processors. */
    cpu_ms: number | null;
    /** The most that it held. */
    peak_memory_bytes: number | null;
  };
  /** Null where nothing ran. */
  isolation_level: number | null;
  /** The yes that it had. */
  approval: string | null;
  /** The code, up to 1 MiB. */
  code: string | null;
  /** The digest of all of the code. */
  code_sha256: string | null;
  /** What else there is to say. */
  more: {
    /** What the code is for. */
    description?: string | undefined;
    /** Of the tool, shortened. */
    arguments?: unknown;
    /** Of the code. */
    argv?: string[] | undefined;
    /** Names of its environment. */
    variables?: string[] | undefined;
    /** Files that it was given. */
    inputs?: string[] | undefined;
    /** Where it worked. */
    workdir?: {
      /** Of the directory. */
      path: string;
      /** read, overlay, review or rw. */
      mode: string;
    } | undefined;
    /** Those that are not the default. */
    limits?: Record<string, number> | undefined;
    /** What the host lacked. */
    missing?: string[] | undefined;
    /** How much there was, and whether it is kept. */
    output?: Record<string, unknown> | undefined;
    /** That it made. */
    files?: Array<Record<string, unknown>> | undefined;
    /** What went wrong, shortened. */
    error?: Record<string, unknown> | undefined;
    /** That ended it. */
    signal?: number | undefined;
    /** As in the result. */
    denials?: Array<Record<string, unknown>> | undefined;
    /** As in the result. */
    network?: Array<Record<string, unknown>> | undefined;
    /** The approval that it waits for. */
    waits_for?: string | undefined;
  } | null;
  /** Which machine wrote it. */
  node: string | null;
  /** Its place in that one's chain. */
  seq: number | null;
  /** Of this row and the one before. */
  digest: string | null;
  /** Somebody changed the row. */
  damaged?: boolean | undefined;
  /** What cannot be read. */
  damaged_columns?: string[] | undefined;
}

/** A record as lists have it. */
export interface RecordSummary {
  /** As in the result. */
  run_id: string | null;
  /** When it was asked for. */
  started: string | null;
  /** Who asked. */
  owner: string | null;
  /** In which conversation. */
  conversation: string | null;
  /** By which way. */
  front_end: string | null;
  /** As what. */
  role: string | null;
  /** With which tool. */
  tool: string | null;
  /** Under which rules. */
  profile: string | null;
  /** In which interpreter. */
  environment: string | null;
  /** In which session. */
  session_id: string | null;
  /** As which cell. */
  cell: number | null;
  /** How it ended. */
  outcome: string | null;
  /** As in the result. */
  exit_code: number | null;
  /** What it used. */
  usage: {
    /** Waiting for a sandbox. */
    queue_ms: number | null;
    /** By the clock. */
    wall_ms: number | null;
    /** Of the processors. */
    cpu_ms: number | null;
    /** The most that it held. */
    peak_memory_bytes: number | null;
  };
  /** Null where nothing ran. */
  isolation_level: number | null;
  /** The yes that it had. */
  approval: string | null;
  /** The beginning of the code. */
  code_start: string | null;
  /** The digest of all of the code. */
  code_sha256: string | null;
  /** Which machine wrote it. */
  node: string | null;
  /** Its place in that one's chain. */
  seq: number | null;
  /** Of this row and the one before. */
  digest: string | null;
  /** Somebody changed the row. */
  damaged?: boolean | undefined;
  /** What cannot be read. */
  damaged_columns?: string[] | undefined;
}

/** All limits of a run. */
export interface AppliedLimits {
  /** time from start to end In ms. */
  wall_ms: number;
  /** processor time of all processes of the run In ms. */
  cpu_ms: number;
  /** share of the processors, in percent of one (250: two and a half); 0: all that is free. Needs control groups */
  cpu_percent: number;
  /** memory of all processes of the run, beyond what the warm interpreter shares In bytes. */
  memory_bytes: number;
  /** processes and threads at once */
  pids: number;
  /** size of one file In bytes. */
  file_bytes: number;
  /** open descriptors of one process */
  open_files: number;
  /** space in /work and /tmp together In bytes. */
  workspace_bytes: number;
  /** files and directories in /work and /tmp together */
  workspace_files: number;
  /** space in /dev/shm In bytes. */
  shm_bytes: number;
  /** stdout and stderr together, after which the run is ended In bytes. */
  output_bytes: number;
  /** each of stdout and stderr in the reply, as head and tail In bytes. */
  reply_bytes: number;
  /** each of stdout and stderr that is kept whole where the reply is cut In bytes. */
  spill_bytes: number;
  /** one representation of the value, and a traceback In bytes. */
  value_bytes: number;
  /** files that come back */
  files: number;
  /** size of all files that come back In bytes. */
  files_bytes: number;
  /** directory levels in which files are looked for */
  files_depth: number;
  /** tables that are written to files, where that is asked for */
  tables: number;
  /** each of these files In bytes. */
  table_bytes: number;
  /** standard input In bytes. */
  stdin_bytes: number;
  /** the code itself In bytes. */
  code_bytes: number;
  /** connections through the proxy at once */
  network_connections: number;
  /** what comes through the proxy from all hosts together In bytes. */
  network_in_bytes: number;
  /** what goes through the proxy to all hosts together In bytes. */
  network_out_bytes: number;
  /** time that one connection through the proxy may last In ms. */
  network_ms: number;
}

/** What records say when they are counted. */
export interface RecordStats {
  /** How many. */
  records: number;
  /** Those that had a sandbox. */
  ran: number;
  /** When the first was. */
  first: string | null;
  /** When the last was. */
  last: string | null;
  /** In all. */
  wall_ms_total: number;
  /** In all. */
  cpu_ms_total: number;
  /** The most that one held. */
  peak_memory_bytes: number;
  /** Of those that ran. */
  wall_ms: {
    /** Half of them took no longer. */
    p50: number | null;
    /** Nine of ten. */
    p90: number | null;
    /** 99 of 100. */
    p99: number | null;
    /** The longest. */
    max: number | null;
  };
  /** The largest 100 of each. */
  by: {
    /** By outcome. */
    outcome: Array<{
      /** Null: none. */
      name: string | null;
      /** How many. */
      records: number;
      /** In all. */
      wall_ms: number;
      /** In all. */
      cpu_ms: number;
    }>;
    /** By tool. */
    tool: Array<{
      /** Null: none. */
      name: string | null;
      /** How many. */
      records: number;
      /** In all. */
      wall_ms: number;
      /** In all. */
      cpu_ms: number;
    }>;
    /** By profile. */
    profile: Array<{
      /** Null: none. */
      name: string | null;
      /** How many. */
      records: number;
      /** In all. */
      wall_ms: number;
      /** In all. */
      cpu_ms: number;
    }>;
    /** By owner. */
    owner: Array<{
      /** Null: none. */
      name: string | null;
      /** How many. */
      records: number;
      /** In all. */
      wall_ms: number;
      /** In all. */
      cpu_ms: number;
    }>;
    /** By the way it came. */
    front_end: Array<{
      /** Null: none. */
      name: string | null;
      /** How many. */
      records: number;
      /** In all. */
      wall_ms: number;
      /** In all. */
      cpu_ms: number;
    }>;
    /** By day. */
    day: Array<{
      /** Null: none. */
      name: string | null;
      /** How many. */
      records: number;
      /** In all. */
      wall_ms: number;
      /** In all. */
      cpu_ms: number;
    }>;
  };
}

/** A profile that the caller may use. */
export interface Profile {
  /** By which a run asks for it. */
  name: string;
  /** The lowest that may use it. */
  role: string;
  /** A few words. */
  title: string | null;
}

/** An interpreter with its packages. */
export interface Environment {
  /** By which a run asks for it. */
  name: string;
  /** Of its Python. */
  version: string | null;
  /** The interpreter; for admins. */
  python: string | null;
  /** Where it is; for admins. Null for `system`. */
  directory: string | null;
  /** That are loaded ahead. */
  modules: string[];
  /** Of one with packages of runs: what it was made of; else null. Only admins see such. */
  base: string | null;
  /** And those packages. */
  packages: string[];
}

/** Limits of a run that are not the profile's. */
export interface Limits {
  /** time from start to end In ms. */
  wall_ms?: number | undefined;
  /** processor time of all processes of the run In ms. */
  cpu_ms?: number | undefined;
  /** share of the processors, in percent of one (250: two and a half); 0: all that is free. Needs control groups */
  cpu_percent?: number | undefined;
  /** memory of all processes of the run, beyond what the warm interpreter shares In bytes. */
  memory_bytes?: number | undefined;
  /** processes and threads at once */
  pids?: number | undefined;
  /** size of one file In bytes. */
  file_bytes?: number | undefined;
  /** open descriptors of one process */
  open_files?: number | undefined;
  /** space in /work and /tmp together In bytes. */
  workspace_bytes?: number | undefined;
  /** files and directories in /work and /tmp together */
  workspace_files?: number | undefined;
  /** space in /dev/shm In bytes. */
  shm_bytes?: number | undefined;
  /** stdout and stderr together, after which the run is ended In bytes. */
  output_bytes?: number | undefined;
  /** each of stdout and stderr in the reply, as head and tail In bytes. */
  reply_bytes?: number | undefined;
  /** each of stdout and stderr that is kept whole where the reply is cut In bytes. */
  spill_bytes?: number | undefined;
  /** one representation of the value, and a traceback In bytes. */
  value_bytes?: number | undefined;
  /** files that come back */
  files?: number | undefined;
  /** size of all files that come back In bytes. */
  files_bytes?: number | undefined;
  /** directory levels in which files are looked for */
  files_depth?: number | undefined;
  /** tables that are written to files, where that is asked for */
  tables?: number | undefined;
  /** each of these files In bytes. */
  table_bytes?: number | undefined;
  /** standard input In bytes. */
  stdin_bytes?: number | undefined;
  /** the code itself In bytes. */
  code_bytes?: number | undefined;
  /** connections through the proxy at once */
  network_connections?: number | undefined;
  /** what comes through the proxy from all hosts together In bytes. */
  network_in_bytes?: number | undefined;
  /** what goes through the proxy to all hosts together In bytes. */
  network_out_bytes?: number | undefined;
  /** time that one connection through the proxy may last In ms. */
  network_ms?: number | undefined;
}

/** A directory of the server's host that its configuration names. */
export interface Workdir {
  /** A directory that the server's configuration names. */
  root: string;
  /** A folder below it. By default empty. */
  path?: string | undefined;
  /** What the code may do there. By default read. */
  mode?: "read" | "overlay" | "review" | "rw" | undefined;
}

/** What a cell takes. */
export interface CellOptions {
  /** The file name that tracebacks show; main.py where it is left out. */
  name?: string | undefined;
  /** Whether the code is only held against its profile's guard, and does not run. By default false. */
  check?: boolean | undefined;
  /** The approval that this was given; without it, a yes to the same counts too. */
  approval?: string | undefined;
  /** Output longer than this is kept whole, also where the result has all of it. In bytes. */
  keep_over?: number | undefined;
  /** Of a cell: whether it waits for its turn while another runs. By default true. */
  wait?: boolean | undefined;
  /** Standard input; empty where it is left out. */
  stdin?: string | undefined;
  /** Limits that are not the profile's; see the configuration page for what each means. */
  limits?: Limits | undefined;
  /** The format of files in which each table that is shown is kept, whole. */
  tables?: "csv" | "parquet" | "json" | "none" | undefined;
  /** Whether figures come as SVG beside PNG. By default false. */
  svg?: boolean | undefined;
  /** Variables that the code finds, with their values. */
  values?: Record<string, unknown> | undefined;
  /** What it is given: each with one of text, base64 and file_id. */
  files?: Files | undefined;
  /** What the code is for, in words, for who has to approve it. */
  description?: string | undefined;
  /** To which it belongs, as the caller names it. */
  conversation?: string | undefined;
  /** Whether a streamed run continues when the client disconnects, and can be followed again. By default false. */
  detach?: boolean | undefined;
}

/** What a run takes. */
export interface RunOptions {
  /** The file name that tracebacks show; main.py where it is left out. */
  name?: string | undefined;
  /** Whether the code is only held against its profile's guard, and does not run. By default false. */
  check?: boolean | undefined;
  /** The approval that this was given; without it, a yes to the same counts too. */
  approval?: string | undefined;
  /** Output longer than this is kept whole, also where the result has all of it. In bytes. */
  keep_over?: number | undefined;
  /** Of a cell: whether it waits for its turn while another runs. By default true. */
  wait?: boolean | undefined;
  /** Standard input; empty where it is left out. */
  stdin?: string | undefined;
  /** Go on in this session, where its variables are. */
  session?: string | undefined;
  /** An interpreter with its packages, such as science or system. */
  environment?: string | undefined;
  /** Packages that are installed for it beside those of the environment, such as polars==1.9, where the profile allows it. */
  packages?: string[] | undefined;
  /** A named set of limits and rules, such as standard. */
  profile?: string | undefined;
  /** The kind of sandbox; none is for admins alone. */
  isolation?: "auto" | "namespaces" | "process" | "none" | "container" | undefined;
  /** What sys.argv has after the name. */
  arguments?: string[] | undefined;
  /** Of its environment, by their names. */
  variables?: Record<string, string> | undefined;
  /** Limits that are not the profile's; see the configuration page for what each means. */
  limits?: Limits | undefined;
  /** The format of files in which each table that is shown is kept, whole. */
  tables?: "csv" | "parquet" | "json" | "none" | undefined;
  /** Whether figures come as SVG beside PNG. By default false. */
  svg?: boolean | undefined;
  /** Variables that the code finds, with their values. */
  values?: Record<string, unknown> | undefined;
  /** What it is given: each with one of text, base64 and file_id. */
  files?: Files | undefined;
  /** What the code is for, in words, for who has to approve it. */
  description?: string | undefined;
  /** To which it belongs, as the caller names it. */
  conversation?: string | undefined;
  /** A directory of the host that is /work. */
  workdir?: Workdir | undefined;
  /** Whether a streamed run continues when the client disconnects, and can be followed again. By default false. */
  detach?: boolean | undefined;
}

/** What a new session takes. */
export interface SessionOptions {
  /** A name for it; without one it has an id alone. */
  name?: string | undefined;
  /** Whether the session of the owner's that was idle longest ends, where they have as many as they may; else the answer is busy then. By default false. */
  evict?: boolean | undefined;
  /** An interpreter with its packages, such as science or system. */
  environment?: string | undefined;
  /** Packages that are installed for it beside those of the environment, such as polars==1.9, where the profile allows it. */
  packages?: string[] | undefined;
  /** A named set of limits and rules, such as standard. */
  profile?: string | undefined;
  /** The kind of sandbox; none is for admins alone. */
  isolation?: "auto" | "namespaces" | "process" | "none" | "container" | undefined;
  /** What sys.argv has after the name. */
  arguments?: string[] | undefined;
  /** Of its environment, by their names. */
  variables?: Record<string, string> | undefined;
  /** Limits that are not the profile's; see the configuration page for what each means. */
  limits?: Limits | undefined;
  /** The format of files in which each table that is shown is kept, whole. */
  tables?: "csv" | "parquet" | "json" | "none" | undefined;
  /** Whether figures come as SVG beside PNG. By default false. */
  svg?: boolean | undefined;
  /** Variables that the code finds, with their values. */
  values?: Record<string, unknown> | undefined;
  /** What it is given: each with one of text, base64 and file_id. */
  files?: Files | undefined;
  /** What the code is for, in words, for who has to approve it. */
  description?: string | undefined;
  /** To which it belongs, as the caller names it. */
  conversation?: string | undefined;
}

/** What a replay takes. */
export interface ReplayOptions {
  /** A name for the new session. */
  name?: string | undefined;
  /** The first cell to run; 0: all that there are. By default 0. */
  from?: number | undefined;
  /** Whether it goes on when a cell does not end as ok; else nothing changes then. By default true. */
  keep_going?: boolean | undefined;
  /** Whether the session of the owner's that was idle longest ends, where they have as many as they may; else the answer is busy then. By default false. */
  evict?: boolean | undefined;
  /** An interpreter with its packages, such as science or system. */
  environment?: string | undefined;
  /** Packages that are installed for it beside those of the environment, such as polars==1.9, where the profile allows it. */
  packages?: string[] | undefined;
  /** A named set of limits and rules, such as standard. */
  profile?: string | undefined;
  /** The kind of sandbox; none is for admins alone. */
  isolation?: "auto" | "namespaces" | "process" | "none" | "container" | undefined;
  /** What sys.argv has after the name. */
  arguments?: string[] | undefined;
  /** Of its environment, by their names. */
  variables?: Record<string, string> | undefined;
  /** Limits that are not the profile's; see the configuration page for what each means. */
  limits?: Limits | undefined;
  /** The format of files in which each table that is shown is kept, whole. */
  tables?: "csv" | "parquet" | "json" | "none" | undefined;
  /** Whether figures come as SVG beside PNG. By default false. */
  svg?: boolean | undefined;
  /** Variables that the code finds, with their values. */
  values?: Record<string, unknown> | undefined;
  /** What it is given: each with one of text, base64 and file_id. */
  files?: Files | undefined;
  /** What the code is for, in words, for who has to approve it. */
  description?: string | undefined;
  /** To which it belongs, as the caller names it. */
  conversation?: string | undefined;
}

/** Which files are meant. */
export interface FileFilter {
  /** To which it belongs, as the caller names it. */
  conversation?: string | undefined;
  /** Those that were made in this session, by its id. */
  session?: string | undefined;
  /** Those that this run made. */
  run_id?: string | undefined;
  /** Exactly so. */
  name?: string | undefined;
  /** Whether long output is listed as well. By default false. */
  outputs?: boolean | undefined;
  /** Whose (admins only); "all" for everybody's. The caller's own by default. */
  owner?: string | undefined;
}

/** Which records are meant. */
export interface RecordFilter {
  /** A day, a moment, or how long ago: 2h. */
  since?: string | undefined;
  /** Likewise. */
  until?: string | undefined;
  /** Exactly this one. */
  outcome?: string | undefined;
  /** With its toolset or without. */
  tool?: string | undefined;
  /** Exactly this one. */
  profile?: string | undefined;
  /** Exactly this one. */
  environment?: string | undefined;
  /** Exactly this one. */
  front_end?: string | undefined;
  /** Cells of this session, by its id. */
  session?: string | undefined;
  /** Runs of this conversation. */
  conversation?: string | undefined;
  /** Of this machine. */
  node?: string | undefined;
  /** Those whose code holds the text. */
  code?: string | undefined;
  /** Whose (admins only); "all" for everybody's. The caller's own by default. */
  owner?: string | undefined;
}

/** What a call of a tool takes beside its arguments. */
export interface ToolOptions {
  /** Whose tool it is; the caller's own, or the first. */
  toolset?: string | undefined;
  /** To which it belongs, as the caller names it. */
  conversation?: string | undefined;
  /** The approval that the call was given. */
  approval?: string | undefined;
  /** Where the caller works, for tools that work there too. */
  workdir?: {
    /** See POST /v1/runs. */
    root: string;
    /** A folder below it. */
    path?: string | undefined;
  } | undefined;
  /** Of their environment, for the same tools. */
  variables?: Record<string, string> | undefined;
}

/** What the export of a table takes. */
export interface TableOptions {
  /** Of the file. By default csv. */
  format?: "csv" | "parquet" | "json" | undefined;
  /** Of the file. */
  name?: string | undefined;
  /** In which it is converted, where it has to be. */
  environment?: string | undefined;
  /** Whose (admins only); "all" for everybody's. The caller's own by default. */
  owner?: string | undefined;
}

/** What the commit of a review takes. */
export interface CommitOptions {
  /** Of the changes that were looked at. Without it, any are accepted. */
  digest?: string | undefined;
  /** The directory, by a root of the configuration (HTTP only): needed if the daemon was restarted after the run. */
  workdir?: {
    /** As the run had it. */
    root: string;
    /** As the run had it. */
    path?: string | undefined;
  } | undefined;
}
