// SPDX-License-Identifier: Apache-2.0
// The same package in a page of a browser. It tells the server of the page what came of it.
import { Adder, NotFound } from "adder-client";

async function steps(): Promise<unknown> {
  const query = new URLSearchParams(location.search);
  const adder = new Adder({ url: query.get("url")!, token: query.get("token")! });
  const events: string[] = [];
  for await (const event of adder.stream("print('h\u00e9')\n6 * 7")) {
    events.push(
      event.type === "stdout" ? event.text : event.type === "result" ? event.result.text : event.type,
    );
  }
  const content = new Uint8Array(200_000).map((_, at) => at % 251);
  const kept = await adder.files.put(new Blob([content]), { name: "a.bin" });
  const back = await adder.files.get(kept);
  const read = await adder.run("open('b.txt').read(), len(open('a.bin', 'rb').read())", {
    files: { "a.bin": kept, "b.txt": new Blob(["t"]) },
  });
  const session = await adder.sessions.ensure("page");
  await session.run("x = 1");
  const variables = (await session.variables(["x"])).map((each) => each.value);
  await session.end();
  const controller = new AbortController();
  let runId = "";
  const reason = await (async () => {
    for await (const event of adder.stream("print(1, flush=True)\nwhile True: pass", {
      signal: controller.signal,
    })) {
      if (event.type === "started") runId = event.run_id;
      if (event.type === "stdout") controller.abort("enough");
    }
  })().catch((error: unknown) => error);
  while ((await adder.running()).length > 0);
  const missing = await adder.sessions.get("none").catch((error: unknown) => error instanceof NotFound);
  const nameless = (() => {
    try {
      return new Adder();
    } catch (error) {
      return String(error);
    }
  })();
  const { outcome } = await adder.records.show(runId);
  const same = back.length === content.length && back.every((byte, at) => byte === content[at]);
  return { events, same, read: read.text, variables, reason, outcome, missing, nameless };
}

const told = await steps().catch((error: unknown) => ({
  error: String(error),
  stack: (error as Error).stack,
}));
await fetch("/told", { method: "POST", body: JSON.stringify(told) });
