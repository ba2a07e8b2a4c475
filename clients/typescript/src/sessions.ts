// SPDX-License-Identifier: Apache-2.0
/// <reference lib="esnext.disposable" preserve="true" />
// Sessions: interpreters that stay between cells.
import type {
  CellOptions as ApiCellOptions,
  Checkpoint,
  Comparison,
  Completion,
  History,
  Inspection,
  Replay as ReplayData,
  ReplayedCell as ReplayedCellData,
  ReplayOptions as ApiReplayOptions,
  SessionInfo,
  SessionOptions as ApiSessionOptions,
  TableRows,
  Variable,
} from "./api.js";
import type { CallOptions, ShortLimits } from "./bodies.js";
import { bodyOf, pathOf, queryOf } from "./bodies.js";
import { Ended, NotFound, ProblemError } from "./errors.js";
import type { ReplayingEvent } from "./events.js";
import { Files } from "./files.js";
import type { Http } from "./http.js";
import { Result } from "./result.js";
import { type Listeners, runOf } from "./run.js";
import { SessionFiles } from "./session_files.js";
import { EventStream, type ReplayStream, RunStream } from "./streams.js";

/** What a cell takes. */
export interface CellOptions extends ApiCellOptions, ShortLimits, CallOptions {}

/** What a new session takes. */
export interface SessionOptions extends ApiSessionOptions, ShortLimits, CallOptions {}

/** What a replay takes. */
export interface ReplayOptions extends ApiReplayOptions, ShortLimits, CallOptions {}

/** A cell that ran again. */
export interface ReplayedCell extends Omit<ReplayedCellData, "result"> {
  result: Result;
}

/** What came of a replay. */
export interface Replay extends Omit<ReplayData, "cells"> {
  cells: ReplayedCell[];
}

/** Which rows of a table. */
export interface RowsPage {
  offset?: number | undefined;
  limit?: number | undefined;
  /** The name of a column. */
  sort?: string | undefined;
  descending?: boolean | undefined;
  /** Text that a cell of the row contains. */
  filter?: string | undefined;
}

/** A checkpoint, by its id, its name or itself. */
export type CheckpointRef = string | Pick<Checkpoint, "checkpoint_id">;

/** One session. It stays until `end`, or until nobody used it for long; `await using` ends it as well. */
export class Session {
  readonly #http: Http;
  /** The files in its directory. */
  readonly files: SessionFiles;
  /** As it was when it was last asked for. */
  info: SessionInfo;

  constructor(http: Http, info: SessionInfo) {
    this.#http = http;
    this.files = new SessionFiles(this, new Files(http));
    this.info = info;
  }

  get id(): string {
    return this.info.session_id;
  }

  get name(): string | null {
    return this.info.name;
  }

  /** Runs the next cell to its end. An outcome other than `ok` is no exception: see `Result.check`. */
  async run(code: string, options: CellOptions & Listeners = {}): Promise<Result> {
    return runOf(this.#http, this.#path("cells"), { code }, options);
  }

  /** Runs the next cell, event by event. */
  stream(code: string, options: CellOptions = {}): RunStream {
    return new RunStream(this.#http, this.#path("cells"), { code }, "result", options);
  }

  /** Asks how the session is. */
  async refresh(options: CallOptions = {}): Promise<SessionInfo> {
    return this.#change("GET", [], undefined, options);
  }

  /** All variables, without values; or those of `names`, with them. */
  async variables(names?: readonly string[], options: CallOptions = {}): Promise<Variable[]> {
    const query = queryOf({ names: names?.join(",") });
    const asking = { query, signal: options.signal };
    return (await this.#http.ask<{ variables: Variable[] }>("GET", this.#path("variables"), asking))
      .variables;
  }

  /** How its variables and those of `other`, a session, its name or its id, differ. */
  async compare(other: string | Session, options: CallOptions = {}): Promise<Comparison> {
    const asking = { body: { with: typeof other === "string" ? other : other.id }, signal: options.signal };
    return this.#http.ask("POST", this.#path("compare"), asking);
  }

  /** A page of the rows of the table `name`, a variable. */
  async rows(name: string, page: RowsPage & CallOptions = {}): Promise<TableRows> {
    const { signal, ...asked } = page;
    return this.#http.ask("GET", this.#path("rows"), { query: queryOf({ name, ...asked }), signal });
  }

  /**
   * What may stand at the cursor in `code`. The cursor, and the numbers in the answer, count code points, of
   * which some are two in the length of a string. A session that is at work answers at once, `busy`.
   */
  async complete(code: string, cursor: number, options: CallOptions = {}): Promise<Completion> {
    const asking = { body: { code, cursor }, signal: options.signal };
    return this.#http.ask("POST", this.#path("complete"), asking);
  }

  /** The object whose name stands at the cursor in `code`, or that is called there. */
  async inspect(code: string, cursor: number, options: CallOptions = {}): Promise<Inspection> {
    const asking = { body: { code, cursor }, signal: options.signal };
    return this.#http.ask("POST", this.#path("inspect"), asking);
  }

  /** The cells that it ran; with `results` also what came of each, as long as that is kept. */
  async history(options: { results?: boolean | undefined } & CallOptions = {}): Promise<History> {
    const query = queryOf({ results: options.results });
    return this.#http.ask("GET", this.#path("history"), { query, signal: options.signal });
  }

  /** Gives it another name, or none. */
  async rename(name: string | null, options: CallOptions = {}): Promise<SessionInfo> {
    return this.#change("POST", ["rename"], { name }, options);
  }

  /** Forgets all variables; files stay. */
  async reset(options: CallOptions = {}): Promise<SessionInfo> {
    return this.#change("POST", ["reset"], undefined, options);
  }

  /** Raises KeyboardInterrupt in the cell that runs. */
  async interrupt(options: CallOptions = {}): Promise<SessionInfo> {
    return this.#change("POST", ["interrupt"], undefined, options);
  }

  /** Makes a checkpoint of its variables and files. */
  async checkpoint(name?: string, options: CallOptions = {}): Promise<Checkpoint> {
    const asking = { body: { name }, endless: true, signal: options.signal };
    return this.#http.ask("POST", this.#path("checkpoints"), asking);
  }

  /** Its checkpoints. */
  async checkpoints(options: CallOptions = {}): Promise<Checkpoint[]> {
    return (await this.#http.ask<{ checkpoints: Checkpoint[] }>("GET", this.#path("checkpoints"), options))
      .checkpoints;
  }

  /** Puts it back to a checkpoint. */
  async rollback(checkpoint: CheckpointRef, options: CallOptions = {}): Promise<SessionInfo> {
    return this.#change("POST", ["rollback"], { checkpoint: checkpointOf(checkpoint) }, options);
  }

  /** Drops a checkpoint. */
  async forget(checkpoint: CheckpointRef, options: CallOptions = {}): Promise<SessionInfo> {
    return this.#change("DELETE", ["checkpoints", checkpointOf(checkpoint)], undefined, options);
  }

  /** Sessions that go on from what this one is, or was at a checkpoint. */
  async branch(
    options: { count?: number | undefined; checkpoint?: CheckpointRef | undefined } & CallOptions = {},
  ): Promise<Session[]> {
    const { count, checkpoint, signal } = options;
    const body = { count, checkpoint: checkpoint && checkpointOf(checkpoint) };
    const asking = { body, endless: true, signal };
    const { sessions } = await this.#http.ask<{ sessions: SessionInfo[] }>(
      "POST",
      this.#path("branches"),
      asking,
    );
    return sessions.map((each) => new Session(this.#http, each));
  }

  /** Runs its cells again in a new session, which stays. */
  async replay(options: ReplayOptions = {}): Promise<Replay> {
    const asking = { body: await bodyOf(options), endless: true, signal: options.signal };
    const replay = await this.#http.ask<ReplayData>("POST", this.#path("replay"), asking);
    return { ...replay, cells: replay.cells.map((cell) => ({ ...cell, result: new Result(cell.result) })) };
  }

  /** The same, event by event. */
  replayStream(options: ReplayOptions = {}): ReplayStream {
    return new EventStream<ReplayingEvent>(this.#http, this.#path("replay"), {}, "end", options);
  }

  /** Ends it. */
  async end(options: CallOptions = {}): Promise<SessionInfo> {
    return this.#change("DELETE", [], undefined, options);
  }

  /** Ends it, unless its code did. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.end();
    } catch (error) {
      if (!(error instanceof Ended || error instanceof NotFound)) throw error;
    }
  }

  async #change(
    method: string,
    parts: string[],
    body: object | undefined,
    { signal }: CallOptions,
  ): Promise<SessionInfo> {
    this.info = await this.#http.ask<SessionInfo>(method, this.#path(...parts), { body, signal });
    return this.info;
  }

  #path(...parts: string[]): string {
    return pathOf("v1", "sessions", this.id, ...parts);
  }
}

/** The caller's sessions. */
export class Sessions {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Makes one, which stays. A `name` that another session has is a `Conflict`. */
  async new(options: SessionOptions = {}): Promise<Session> {
    const asking = { body: await bodyOf(options), endless: true, signal: options.signal };
    return new Session(this.#http, await this.#http.ask<SessionInfo>("POST", "/v1/sessions", asking));
  }

  /** By its name, its id, or the first characters of the id. */
  async get(session: string, options: CallOptions = {}): Promise<Session> {
    return new Session(
      this.#http,
      await this.#http.ask<SessionInfo>("GET", pathOf("v1", "sessions", session), options),
    );
  }

  /**
   * The session of that name: the one that is there, as it is, or a new one made with the options. Callers
   * that ask at the same time get the same one.
   */
  async ensure(name: string, options: Omit<SessionOptions, "name"> = {}): Promise<Session> {
    const found = await this.#live(name, options);
    if (found) return found;
    try {
      return await this.new({ ...options, name });
    } catch (error) {
      // Somebody else made it at the same time.
      const other = error instanceof ProblemError ? await this.#live(name, options) : undefined;
      if (other) return other;
      throw error;
    }
  }

  /** All that there are. */
  async list(options: CallOptions = {}): Promise<SessionInfo[]> {
    return (await this.#http.ask<{ sessions: SessionInfo[] }>("GET", "/v1/sessions", options)).sessions;
  }

  async #live(name: string, { signal }: CallOptions): Promise<Session | undefined> {
    try {
      const session = await this.get(name, { signal });
      // A name may look like the beginning of another's id.
      return session.name === name && session.info.state !== "ended" ? session : undefined;
    } catch (error) {
      if (error instanceof NotFound || error instanceof Ended) return undefined;
      throw error;
    }
  }
}

function checkpointOf(checkpoint: CheckpointRef): string {
  return typeof checkpoint === "string" ? checkpoint : checkpoint.checkpoint_id;
}
