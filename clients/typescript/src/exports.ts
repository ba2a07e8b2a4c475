// SPDX-License-Identifier: Apache-2.0
// All that the package exports, besides Adder itself.
export type { Approvals, Reviews, Tools } from "./agents.js";
export type {
  AppliedLimits,
  Approval,
  Cell,
  Change,
  Checkpoint,
  CommitOptions,
  Connection,
  Container,
  Denial,
  Environment,
  FileFilter,
  FilePage,
  History,
  HistoryCell,
  Isolation,
  Limits,
  Line,
  MadeFile,
  Part,
  Profile,
  RecordFilter,
  RecordPage,
  RecordStats,
  RecordSummary,
  ResultData,
  Review,
  RunError,
  RunningRun,
  RunRecord,
  SessionInfo,
  StoredFile,
  TableOptions,
  Tool,
  ToolOptions,
  ToolReplyData,
  Usage,
  Variable,
  Violation,
  Workdir,
} from "./api.js";
export type { CallOptions, FileContent, Files as FilesOption, KeptFile, ShortLimits } from "./bodies.js";
export type { RunOptions } from "./client.js";
export { type Display, displayText, type Picture, pictureOf } from "./display.js";
export {
  AdderError,
  Busy,
  Cancelled,
  Conflict,
  ConnectionFailed,
  Ended,
  Forbidden,
  InvalidRequest,
  NotFound,
  ProblemError,
  RequestTimeout,
  RunFailed,
  ServerError,
  StreamBroken,
  TimedOut,
  TooLarge,
  Unauthorized,
  UnexpectedReply,
  Unsupported,
} from "./errors.js";
export type {
  AdderEvent,
  CellEvent,
  DisplayEvent,
  EndEvent,
  MissedEvent,
  ModelAgainEvent,
  ModelAnswerEvent,
  ModelEvent,
  ModelTextEvent,
  OutputEvent,
  ProgressEvent,
  ReplayEvent,
  ReplayingEvent,
  ReplyEvent,
  ResultEvent,
  RunEvent,
  StartedEvent,
  ToolEvent,
} from "./events.js";
export type { Files, PageOptions, Pieces, PutOptions, Records, Results } from "./files.js";
export type { ForModelOptions } from "./for_model.js";
export type { AdderOptions } from "./http.js";
export { Result, type RunState } from "./result.js";
export type { Listener, Listeners, Run } from "./run.js";
export type { SessionFile, SessionFiles } from "./session_files.js";
export type {
  CellOptions,
  CheckpointRef,
  Replay,
  ReplayedCell,
  ReplayOptions,
  Session,
  SessionOptions,
  Sessions,
} from "./sessions.js";
export type { EventStream, ReplayStream, RunStream, ToolStream } from "./streams.js";
export { ToolReply } from "./tool_reply.js";
