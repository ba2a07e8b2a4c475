// SPDX-License-Identifier: Apache-2.0
// The client itself, whatever it runs in.
import { Approvals, Reviews, Tools } from "./agents.js";
import type {
  Environment,
  Profile,
  RunningRun,
  RunOptions as ApiRunOptions,
  RunState,
  StoredFile,
  TableOptions,
  TableRows,
} from "./api.js";
import type { CallOptions, ShortLimits } from "./bodies.js";
import { bodyOf, pathOf, queryOf } from "./bodies.js";
import { Files, Records, Results } from "./files.js";
import { type AdderOptions, Http, type Platform } from "./http.js";
import type { Result } from "./result.js";
import { type Listeners, Run, runOf } from "./run.js";
import { type RowsPage, type Session, type SessionOptions, Sessions } from "./sessions.js";
import { RunStream } from "./streams.js";

/** What a run takes. */
export interface RunOptions extends ApiRunOptions, ShortLimits, CallOptions {}

/** A server. */
export class AdderClient {
  readonly #http: Http;
  readonly sessions: Sessions;
  readonly files: Files;
  readonly results: Results;
  readonly records: Records;
  readonly tools: Tools;
  readonly approvals: Approvals;
  readonly reviews: Reviews;

  constructor(platform: Platform, options: AdderOptions) {
    this.#http = new Http(platform(options), options);
    this.sessions = new Sessions(this.#http);
    this.files = new Files(this.#http);
    this.results = new Results(this.#http);
    this.records = new Records(this.#http);
    this.tools = new Tools(this.#http);
    this.approvals = new Approvals(this.#http);
    this.reviews = new Reviews(this.#http);
  }

  /** Where the server is. */
  get place(): string {
    return this.#http.place;
  }

  /** Runs code to its end. An outcome other than `ok` is no exception: see `Result.check`. */
  async run(code: string, options: RunOptions & Listeners = {}): Promise<Result> {
    return runOf(this.#http, "/v1/runs", { code }, options);
  }

  /**
   * Runs code, event by event. With `detach` the run goes on when this program goes away, and the stream
   * survives broken connections.
   */
  stream(code: string, options: RunOptions = {}): RunStream {
    return new RunStream(this.#http, "/v1/runs", { code }, "result", options);
  }

  /** Begins to run code in the background. */
  async start(code: string, options: RunOptions = {}): Promise<Run> {
    const body = { ...(await bodyOf(options)), code, background: true };
    const asking = { body, endless: true, signal: options.signal };
    return new Run(this.#http, await this.#http.ask<RunState>("POST", "/v1/runs", asking));
  }

  /** A run that was begun earlier, by this program or another. */
  async getRun(runId: string, options: CallOptions = {}): Promise<Run> {
    return new Run(this.#http, await this.#http.ask<RunState>("GET", pathOf("v1", "runs", runId), options));
  }

  /** The runs that are under way. */
  async running(options: CallOptions = {}): Promise<RunningRun[]> {
    return (await this.#http.ask<{ runs: RunningRun[] }>("GET", "/v1/runs", options)).runs;
  }

  /** A table that a run showed (with the option `tables`), whole, as a file. */
  async exportTable(
    runId: string,
    number = 1,
    options: TableOptions & CallOptions = {},
  ): Promise<StoredFile> {
    const asking = {
      body: { format: "csv", ...(await bodyOf(options)) },
      endless: true,
      signal: options.signal,
    };
    return this.#http.ask("POST", pathOf("v1", "runs", runId, "tables", number), asking);
  }

  /** A page of the rows of such a table. */
  async tableRows(runId: string, number = 1, page: RowsPage & CallOptions = {}): Promise<TableRows> {
    const { signal, ...asked } = page;
    const asking = { query: queryOf(asked), endless: true, signal };
    return this.#http.ask("GET", pathOf("v1", "runs", runId, "tables", number, "rows"), asking);
  }

  /** Calls USE with a new session, and ends it afterwards. */
  async withSession<T>(use: (session: Session) => T | Promise<T>, options: SessionOptions = {}): Promise<T> {
    const session = await this.sessions.new(options);
    try {
      return await use(session);
    } finally {
      await session[Symbol.asyncDispose]();
    }
  }

  /** The profiles that the caller may use. */
  async profiles(options: CallOptions = {}): Promise<Profile[]> {
    return (await this.#http.ask<{ profiles: Profile[] }>("GET", "/v1/profiles", options)).profiles;
  }

  /** The environments: interpreters with their packages. */
  async environments(options: CallOptions = {}): Promise<Environment[]> {
    return (await this.#http.ask<{ environments: Environment[] }>("GET", "/v1/environments", options))
      .environments;
  }
}
