// SPDX-License-Identifier: Apache-2.0
// The shortest program, without address and token: two clients that begin at once, and what they found.
import { Adder } from "adder-client";

const [one, other] = [new Adder(), new Adder()];
const results = await Promise.all([one.run("6 * 7"), one.run("6 * 7"), other.run("6 * 7")]);
console.log(
  JSON.stringify({ texts: results.map((result) => result.text), places: [one.place, other.place] }),
);
