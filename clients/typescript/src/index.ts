// SPDX-License-Identifier: Apache-2.0
// adder-client for browsers, and for all that is not Node.
import { AdderClient } from "./client.js";
import type { AdderOptions } from "./http.js";
import { web } from "./web.js";

export * from "./exports.js";

/** A server of Adder, which runs Python code in sandboxes. */
export class Adder extends AdderClient {
  constructor(options: AdderOptions = {}) {
    super(web, options);
  }
}
