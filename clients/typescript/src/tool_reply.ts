// SPDX-License-Identifier: Apache-2.0
// What a tool replied.
import type { ToolReplyData } from "./api.js";

/** What a tool replied, in the form of its output schema. */
export interface ToolReply extends ToolReplyData {}

export class ToolReply {
  constructor(data: ToolReplyData) {
    this.reply = data.reply;
    this.is_error = data.is_error;
    this.exit_code = data.exit_code;
  }

  /** What somebody has to approve before the tool runs. */
  get approvalId(): string | undefined {
    const id = this.reply["approval_id"];
    return typeof id === "string" ? id : undefined;
  }

  /** As one text, for a model. */
  get text(): string {
    return JSON.stringify(this.reply);
  }
}
