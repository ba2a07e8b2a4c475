// SPDX-License-Identifier: Apache-2.0
// What the compiler knows of adder-client. It is compiled as a program of Node, and as one of browsers; it
// never runs.
import { Adder, type AdderEvent, type Checkpoint, Result, type RunOptions } from "adder-client";

export async function types(adder: Adder): Promise<unknown> {
  const result: Result = await adder.run("1", {
    timeout_ms: 1,
    files: { a: "text", b: Uint8Array.of(1), c: new Blob([]) },
  });
  const text: string = result.text;
  const level: number | undefined = result.isolation?.level;
  if (result.outcome === "timeout") return [text, level];
  for await (const event of adder.stream("1")) {
    if (event.type === "stdout") event.text satisfies string;
    if (event.type === "result") event.result.check() satisfies Result;
    // @ts-expect-error only output has text
    event.text;
  }
  const session = await adder.sessions.ensure("s", { profile: "standard", isolation: "namespaces" });
  const checkpoint: Checkpoint = await session.checkpoint();
  await session.rollback(checkpoint);
  await session.rollback("name");
  // @ts-expect-error code is text
  await adder.run(1);
  // @ts-expect-error a string in a list is no file
  await adder.run("1", { files: ["x"] });
  // @ts-expect-error no such option
  await adder.run("1", { timout_ms: 1 });
  // @ts-expect-error none of the kinds
  await adder.run("1", { isolation: "strong" });
  // @ts-expect-error of run alone: a stream has events
  adder.stream("1", { onStdout: console.log });
  // @ts-expect-error no such limit
  await adder.run("1", { limits: { wall: 1 } });
  // @ts-expect-error the name is the first argument
  await adder.sessions.ensure("s", { name: "t" });
  // @ts-expect-error no such member
  result.txt;
  // @ts-expect-error it may be null
  result.error.type;
  // @ts-expect-error a number is meant
  const options: RunOptions = { memory_mb: "1" };
  const record = await adder.records.show(result.run_id);
  record.code satisfies string | null;
  await using ended = session;
  return [options, ended, (event: AdderEvent) => event.type satisfies string];
}
