// SPDX-License-Identifier: Apache-2.0
// Tools for models; approvals and reviews for people.
import type { Approval, CommitOptions, Review, Tool, ToolOptions, ToolReplyData, Workdir } from "./api.js";
import type { CallOptions } from "./bodies.js";
import { bodyOf, pathOf, queryOf } from "./bodies.js";
import type { ToolEvent } from "./events.js";
import type { Http } from "./http.js";
import { EventStream, type ToolStream } from "./streams.js";
import { ToolReply } from "./tool_reply.js";

/** Tools that models call. */
export class Tools {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** The tools of a toolset that the caller may call. */
  async list(options: { toolset?: string | undefined } & CallOptions = {}): Promise<Tool[]> {
    const asking = { query: queryOf(options), signal: options.signal };
    return (await this.#http.ask<{ tools: Tool[] }>("GET", "/v1/tools", asking)).tools;
  }

  /** The same in the form of a model API's field `tools`. */
  async definitions(
    format: "openai" | "anthropic" | "mcp",
    options: { toolset?: string | undefined } & CallOptions = {},
  ): Promise<Array<Record<string, unknown>>> {
    const asking = { query: queryOf({ ...options, format }), signal: options.signal };
    return (await this.#http.ask<{ tools: Array<Record<string, unknown>> }>("GET", "/v1/tools", asking))
      .tools;
  }

  /** One call. Wrong arguments are told in the reply, for the model, and are no exception. */
  async call(tool: string, args: object = {}, options: ToolOptions & CallOptions = {}): Promise<ToolReply> {
    const body = { ...(await bodyOf(options)), arguments: args };
    const asking = { body, endless: true, signal: options.signal };
    return new ToolReply(await this.#http.ask<ToolReplyData>("POST", pathOf("v1", "tools", tool), asking));
  }

  /** The same, event by event; the last is the `reply`. */
  stream(tool: string, args: object = {}, options: ToolOptions & CallOptions = {}): ToolStream {
    return new EventStream<ToolEvent>(
      this.#http,
      pathOf("v1", "tools", tool),
      { arguments: args },
      "reply",
      options,
    );
  }
}

/** What waits for a yes. To decide takes a token that speaks for a person. */
export class Approvals {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** All that wait. */
  async list(options: CallOptions = {}): Promise<Approval[]> {
    return (await this.#http.ask<{ approvals: Approval[] }>("GET", "/v1/approvals", options)).approvals;
  }

  /** One; with `waitMs` once somebody decided, or the time is over. */
  async get(
    approvalId: string,
    options: { waitMs?: number | undefined } & CallOptions = {},
  ): Promise<Approval> {
    const query = queryOf({ wait_ms: options.waitMs });
    return this.#http.ask("GET", pathOf("v1", "approvals", approvalId), {
      query,
      endless: true,
      signal: options.signal,
    });
  }

  /** Yes; with `always` to all that its conversation asks for in that place. */
  async approve(
    approvalId: string,
    options: { always?: boolean | undefined } & CallOptions = {},
  ): Promise<Approval> {
    const body = { always: options.always ?? false };
    return this.#http.ask("POST", pathOf("v1", "approvals", approvalId, "approve"), {
      body,
      signal: options.signal,
    });
  }

  /** No. */
  async deny(
    approvalId: string,
    options: { reason?: string | undefined } & CallOptions = {},
  ): Promise<Approval> {
    const body = await bodyOf(options);
    return this.#http.ask("POST", pathOf("v1", "approvals", approvalId, "deny"), {
      body,
      signal: options.signal,
    });
  }
}

/** Changes to a work directory that wait for a yes. */
export class Reviews {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** All of them. */
  async list(options: CallOptions = {}): Promise<Review[]> {
    return (await this.#http.ask<{ reviews: Review[] }>("GET", "/v1/reviews", options)).reviews;
  }

  /** One, with its changes. */
  async get(reviewId: string, options: CallOptions = {}): Promise<Review> {
    return this.#http.ask("GET", pathOf("v1", "reviews", reviewId), options);
  }

  /** Makes the changes; with `digest` only those that were looked at. */
  async commit(reviewId: string, options: CommitOptions & CallOptions = {}): Promise<Review> {
    return this.#decide(reviewId, "commit", options);
  }

  /** Takes back a commit that was broken off. */
  async undo(
    reviewId: string,
    options: { workdir?: Pick<Workdir, "root" | "path"> | undefined } & CallOptions = {},
  ): Promise<Review> {
    return this.#decide(reviewId, "undo", options);
  }

  /** Drops the changes. */
  async drop(reviewId: string, options: CallOptions = {}): Promise<Review> {
    return this.#decide(reviewId, "drop", options);
  }

  async #decide(reviewId: string, what: string, options: CallOptions): Promise<Review> {
    const body = await bodyOf(options);
    return this.#http.ask("POST", pathOf("v1", "reviews", reviewId, what), { body, signal: options.signal });
  }
}
