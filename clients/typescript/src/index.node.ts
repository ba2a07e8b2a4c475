// SPDX-License-Identifier: Apache-2.0
// adder-client for Node: the same as index.ts, over node:http.
import { AdderClient } from "./client.js";
import type { AdderOptions } from "./http.js";
import { node } from "./node/connection.js";

export * from "./exports.js";

/** A server of Adder, which runs Python code in sandboxes. */
export class Adder extends AdderClient {
  constructor(options: AdderOptions = {}) {
    super(node, options);
  }
}
