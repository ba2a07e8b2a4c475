// SPDX-License-Identifier: Apache-2.0
// What a program in Node does with adder-client: node steps.js NAME runs one step, and fails where something
// is not as it should be. The pytest beside it names each, with the daemon in ADDER_URL, ADDER_TOKEN and what
// is read below.
import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { lstat, mkdir, mkdtemp, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import * as client from "adder-client";
import { Adder, type AdderEvent, type Result, type RunEvent } from "adder-client";
import { fromPath, saveFile, saveFiles } from "adder-client/node";

const FOREVER = "import time\nprint('started', flush=True)\nwhile True: time.sleep(0.01)";
const BLUE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SHOW = `
class Dot:
    def _repr_png_(self): return ${JSON.stringify(BLUE)}
display(Dot())
`;

const mark = crypto.randomUUID().slice(0, 8); // what one step makes, no other has
const adder = new Adder();
const person = new Adder({ token: process.env["PERSON_TOKEN"] });

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function folder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "adder-steps-"));
}

async function ids(): Promise<string[]> {
  return (await adder.running()).map((run) => run.run_id);
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds()));
}

function isCancelled(runId: string): () => Promise<boolean> {
  return async () => {
    if ((await ids()).includes(runId)) return false;
    assert.equal((await adder.records.show(runId)).outcome, "cancelled");
    return true;
  };
}

/** A server that is none of Adder's: what it answers only such a one can be made to answer. */
async function madeUp(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  use: (url: string) => Promise<void>,
): Promise<void> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const problem = (response: ServerResponse, status: number, headers = {}) => {
  response.writeHead(status, { "Content-Type": "application/problem+json", ...headers });
  response.end(JSON.stringify({ title: "a title", status, detail: "a detail", code: "a_code" }));
};

const steps: Record<string, () => Promise<void>> = {
  async a_result_is_whole() {
    const result = await adder.run("print('out')\n6 * 7");
    assert.deepEqual([result.outcome, result.stdout, result.text, result.ok], ["ok", "out\n", "42", true]);
    assert.equal(result.check(), result);
    assert.ok(result instanceof client.Result && result.usage.wall_ms > 0);
    const shown = JSON.parse(JSON.stringify(result)) as Record<string, unknown>;
    assert.equal(shown["run_id"], result.run_id);
    assert.ok("isolation" in shown && "limits" in shown && !("text" in shown));
    assert.equal((await adder.run("print('only said')")).text, "only said");
    assert.equal((await adder.run("pass")).text, "");
  },

  async what_failed_is_a_result_too() {
    const result = await adder.run("x = 1\nx / 0");
    assert.deepEqual(
      [result.outcome, result.error?.type, result.error?.line],
      ["error", "ZeroDivisionError", 2],
    );
    assert.throws(
      () => result.check(),
      (error) =>
        error instanceof client.RunFailed &&
        error.result === result &&
        /ZeroDivisionError/.test(error.message),
    );
  },

  async a_model_is_told_what_it_needs() {
    const code =
      "import sys\nprint('out')\nprint('err', file=sys.stderr)\nopen('a.txt', 'w').write('x')\n1 / 0";
    const told = (await adder.run(code)).forModel();
    const parts = [
      "stdout:\nout",
      "stderr:\nerr",
      "error:\nTraceback",
      "ZeroDivisionError",
      "a.txt (text/plain, 1 bytes)",
    ];
    for (const part of parts) assert.ok(told.includes(part), `${part}: ${told}`);
    assert.equal((await adder.run("print(1)\n2")).forModel(), "stdout:\n1\n\nvalue:\n2");
    assert.equal((await adder.run("print(1)")).forModel(), "1");
    assert.equal((await adder.run("pass")).forModel(), "(ok: nothing was printed, and there is no value)");
    assert.ok((await adder.run(SHOW)).forModel().includes("(a picture, image/png)"));
    const hinted = await adder.run("import no_such_module_here");
    assert.ok(!hinted.error?.hint || hinted.forModel().includes(`hint:\n${hinted.error.hint}`));
    const long = await adder.run(
      "print('begin' + '\u{1F600}' * 9000 + 'end')\nraise ValueError('the reason')",
    );
    const cut = long.forModel({ maxChars: 1000 });
    assert.ok(
      cut.length <= 1000 && cut.includes("begin") && cut.includes("end\n") && cut.includes("the reason"),
      cut,
    );
    assert.ok(cut.includes("more characters") && cut.isWellFormed());
    assert.throws(() => long.forModel({ maxChars: 1 }), RangeError);
  },

  async options_reach_the_run() {
    const kept = await adder.files.put("kept", { name: "stored.txt" });
    const code = [
      "import os, sys",
      "print(sys.argv[1:], os.environ['MODE'], sys.stdin.read(), n, sorted(os.listdir()))",
      "print(open('stored.txt').read(), open('/tmp/again.txt').read())",
    ].join("\n");
    const result = await adder.run(code, {
      arguments: ["a", "b"],
      variables: { MODE: "x" },
      stdin: "in",
      values: { n: { k: [1, null] } },
      files: { "sub/a.txt": "text", "stored.txt": kept, "/tmp/again.txt": kept },
      timeout_ms: 70_000,
      memory_mb: 200,
      limits: { pids: 9 },
    });
    assert.equal(
      result.check().stdout,
      "['a', 'b'] x in {'k': [1, None]} ['stored.txt', 'sub']\nkept kept\n",
    );
    const { wall_ms, memory_bytes, pids } = result.limits;
    assert.deepEqual([wall_ms, memory_bytes, pids], [70_000, 200 * 2 ** 20, 9]);
  },

  async files_of_every_kind_go_in() {
    const path = join(await folder(), "from path.bin");
    await writeFile(path, Uint8Array.of(0xff, 0));
    const contents: Record<string, [client.FileContent, number[]]> = {
      text: ["\uFEFFé\u2028", [0xef, 0xbb, 0xbf, 0xc3, 0xa9, 0xe2, 0x80, 0xa8]],
      zero: ["a\0b", [97, 0, 98]],
      bytes: [Uint8Array.of(0xef, 0xbb, 0xbf, 97, 0), [0xef, 0xbb, 0xbf, 97, 0]],
      part: [new Uint8Array([1, 2, 254, 4]).subarray(1, 3), [2, 254]],
      buffer: [Uint8Array.of(255, 1).buffer, [255, 1]],
      blob: [new Blob(["b", Uint8Array.of(200)]), [98, 200]],
      path: [await fromPath(path), [255, 0]],
      none: ["", []],
    };
    const files = Object.fromEntries(Object.entries(contents).map(([name, [content]]) => [name, content]));
    const code =
      "import json, os\njson.dumps({name: list(open(name, 'rb').read()) for name in os.listdir()})";
    const found = JSON.parse((await adder.run(code, { files })).check().text.slice(1, -1)) as unknown;
    assert.deepEqual(
      found,
      Object.fromEntries(Object.entries(contents).map(([name, [, bytes]]) => [name, bytes])),
    );
    const kept = await adder.files.put("1", { name: "kept" });
    const listed = await adder.run("import os; sorted(os.listdir())", {
      files: [await fromPath(path), kept],
    });
    assert.equal(listed.text, "['from path.bin', 'kept']");
    await assert.rejects(fromPath(join(path, "not there")), /ENOENT|ENOTDIR/);
    for (const [wrong, words] of [
      ["a.csv", /files\[1\] is the string "a.csv".*\{ name: content \}.*fromPath\("a.csv"\)/],
      [new Blob(["x"]), /files\[1\] has no name/],
      [undefined, /files\[1\] has no name/],
    ] as const) {
      const given = { files: [kept, wrong] as unknown as client.KeptFile[] };
      const isClear = (error: unknown) => error instanceof TypeError && words.test(error.message);
      await assert.rejects(adder.run("1", given), isClear);
    }
  },

  async pictures_are_bytes() {
    const { pictures } = (await adder.run(SHOW)).check();
    assert.deepEqual(pictures, [{ mime: "image/png", data: new Uint8Array(Buffer.from(BLUE, "base64")) }]);
  },

  async events_come_as_they_happen() {
    const stream = adder.stream(`import sys\nprint('a\\u2028b')\nprint('e', file=sys.stderr)${SHOW}\n7`);
    const events: RunEvent[] = await all(stream);
    const types = events.map((event) => event.type);
    assert.deepEqual([types[0], types.at(-1)], ["started", "result"]);
    assert.equal(types.filter((type) => type === "display").length, 1);
    const said = events.map((event) => (event.type === "stdout" ? event.text : "")).join("");
    assert.ok(said === "a\u2028b\n" && types.includes("stderr"));
    const [first] = events;
    const result = await stream.result();
    assert.ok(result.text === "7" && first?.type === "started" && first.run_id === result.run_id);
    const heard: string[] = [];
    const loud = await adder.run("import sys\nprint('o')\nprint('e', file=sys.stderr)\n1", {
      onStdout: (text) => heard.push(`o:${text}`),
      onStderr: (text) => heard.push(`e:${text}`),
    });
    assert.ok(loud.text === "1" && heard.includes("o:o\n") && heard.includes("e:e\n"), inspect(heard));
    const own = new Error("own");
    const refusing = adder.run(FOREVER, { conversation: mark, onStdout: () => Promise.reject(own) });
    await assert.rejects(refusing, own);
    await until(async () => !(await adder.running()).some((run) => run.conversation === mark));
  },

  async leaving_a_stream_cancels() {
    let runId = "";
    for await (const event of adder.stream(FOREVER)) {
      if (event.type === "started") runId = event.run_id;
      if (event.type === "stdout") break;
    }
    await until(isCancelled(runId));
    const stream = adder.stream(FOREVER);
    for await (const event of {
      [Symbol.asyncIterator]: () => ({ next: () => stream[Symbol.asyncIterator]().next() }),
    }) {
      if (event.type === "started") runId = event.run_id;
      if (event.type === "stdout") break; // without leaving the stream
    }
    assert.ok((await ids()).includes(runId));
    await stream.cancel();
    await until(isCancelled(runId));
    await assert.rejects(stream.result(), /left before/);

    // While somebody waits for the next event.
    const waited = adder.stream(FOREVER);
    const events = waited[Symbol.asyncIterator]();
    const first = await events.next();
    assert.ok(first.value?.type === "started" && (await events.next()).value?.type === "stdout");
    const next = events.next();
    await waited.cancel();
    assert.deepEqual(await next, { done: true, value: undefined });
    await until(isCancelled(first.value.run_id));
    await adder.stream(FOREVER).cancel(); // before anything began
  },

  async a_signal_cancels() {
    const own = new Error("not needed any more");
    const waited = new AbortController();
    const running = adder.run(FOREVER, { signal: waited.signal });
    await until(async () => (await ids()).length > 0);
    const [runId] = await ids();
    waited.abort(own);
    await assert.rejects(running, own);
    await until(isCancelled(runId!));

    const streamed = new AbortController();
    const seen: AdderEvent[] = [];
    await assert.rejects(
      async () => {
        for await (const event of adder.stream(FOREVER, { signal: streamed.signal })) {
          seen.push(event);
          if (event.type === "stdout") streamed.abort();
        }
      },
      { name: "AbortError" },
    );
    const [started] = seen;
    assert.equal(started?.type, "started");
    await until(isCancelled((started as { run_id: string }).run_id));

    const worded = new AbortController();
    const told = adder.run(FOREVER, { signal: worded.signal }).catch((reason: unknown) => reason);
    await until(async () => (await ids()).length > 0);
    worded.abort("a word");
    assert.equal(await told, "a word");

    await assert.rejects(adder.run(FOREVER, { signal: AbortSignal.timeout(300) }), { name: "TimeoutError" });
    await assert.rejects(adder.sessions.list({ signal: AbortSignal.abort(own) }), own);
    await until(async () => (await ids()).length === 0);
    assert.equal((await adder.run("1 + 1", { signal: new AbortController().signal })).text, "2");
  },

  async a_run_in_the_background() {
    const run = await adder.start(FOREVER);
    assert.ok(!run.ended && (await ids()).includes(run.id));
    const controller = new AbortController();
    const waiting = run.wait({ signal: controller.signal });
    controller.abort();
    await assert.rejects(waiting, { name: "AbortError" });
    assert.ok((await ids()).includes(run.id), "to wait no longer ends nothing");
    const again = await adder.getRun(run.id);
    await again.cancel();
    assert.equal((await run.wait()).result?.outcome, "cancelled");
    const state = await (await adder.start("1 + 1")).wait();
    assert.ok(state.result?.text === "2" && state.result.check());
  },

  async a_detached_stream_survives_broken_connections() {
    const numbers = "for i in range(5):\n    print(i, end='', flush=True)\n    display(i)";
    const far = new Adder({ url: process.env["BREAKING_URL"] });
    const stream = far.stream(numbers, { detach: true });
    const events: RunEvent[] = await all(stream);
    const displayed = events.flatMap((event) => (event.type === "display" ? [event.data["text/plain"]] : []));
    assert.deepEqual(displayed, ["0", "1", "2", "3", "4"]);
    assert.equal(events.map((event) => (event.type === "stdout" ? event.text : "")).join(""), "01234");
    assert.ok((await stream.result()).ok && stream.lastEventId === events.length);
    const heard: string[] = [];
    const told = await far.run(numbers, { detach: true, onStdout: (text) => heard.push(text) });
    assert.ok(told.ok && heard.join("") === "01234");
    await far.withSession(async (session) => {
      assert.equal((await session.stream(`${numbers}\nx = 1`, { detach: true }).result()).outcome, "ok");
      assert.equal((await session.run("x")).text, "1");
    });
    await assert.rejects(far.stream(numbers).result(), client.ConnectionFailed);
  },

  async a_detached_run_goes_on_and_is_taken_up() {
    const stream = adder.stream(FOREVER, { detach: true });
    let runId = "";
    for await (const event of stream) {
      if (event.type === "started") runId = event.run_id;
      if (event.type === "stdout") break;
    }
    assert.equal(stream.lastEventId, 2);
    const run = await adder.getRun(runId);
    const followed = run.stream();
    const events = followed[Symbol.asyncIterator]();
    const seen = [await events.next(), await events.next()].map(({ value }) => value?.type);
    assert.deepEqual(seen, ["started", "stdout"]);
    assert.ok((await ids()).includes(runId), "neither leaving nor following ends it");
    const rest = all(run.stream({ after: stream.lastEventId }));
    await run.cancel();
    assert.deepEqual((await rest).map((event) => event.type), ["result"]);
    assert.equal((await followed.result()).outcome, "cancelled");
    await assert.rejects(run.stream({ after: -1 }).result(), client.InvalidRequest);

    const shown = await adder.start("for i in range(30): display('x' * 100_000)");
    await shown.wait();
    const [first, ...others] = await all(shown.stream());
    assert.ok(first?.type === "missed" && first.events + others.length === 32, "started, 30, and the result");
  },

  async a_session_from_beginning_to_end() {
    const session = await adder.sessions.new({ name: `s-${mark}` });
    assert.equal((await session.run("x = 1")).session?.cell, 1);
    const said = (await all(session.stream("print(x)\nx"))).map((event) =>
      event.type === "stdout" ? event.text : "",
    );
    assert.equal(said.join(""), "1\n");
    const checkpoint = await session.checkpoint("one");
    assert.deepEqual(
      (await session.checkpoints()).map((each) => each.name),
      ["one"],
    );
    (await session.run("x = 2")).check();
    assert.deepEqual(
      (await session.variables(["x"])).map((each) => each.value),
      ["2"],
    );
    assert.deepEqual(
      (await session.variables()).map((each) => [each.name, each.value]),
      [["x", undefined]],
    );
    await session.rollback(checkpoint);
    assert.equal((await session.run("x")).text, "1");
    {
      const [branch] = await session.branch({ count: 1, checkpoint: "one" });
      await using other = branch!;
      assert.ok(other.info.parent === session.id && (await other.run("x + 1")).text === "2");
    }
    const listed = (await adder.sessions.list()).filter((each) => each.name === `s-${mark}`);
    assert.deepEqual(
      listed.map((each) => each.session_id),
      [session.id],
    );
    assert.equal((await adder.sessions.get(`s-${mark}`)).id, session.id);
    assert.equal((await adder.sessions.ensure(`s-${mark}`)).id, session.id);
    assert.equal((await session.history()).cells[0]?.code, "x = 1");
    await session.forget("one");
    const replay = await session.replay({ name: `again-${mark}` });
    assert.ok(
      replay.cells.every((cell) => cell.outcome === "ok" && cell.result.ok),
      inspect(replay),
    );
    await (await adder.sessions.get(`again-${mark}`)).end();
    const events = await all(session.replayStream());
    const [head, last] = [events[0], events.at(-1)];
    assert.ok(head?.type === "replay" && last?.type === "end" && last.session && !last.problem);
    await (await adder.sessions.get(last.session.session_id)).end();
    await session.reset();
    assert.equal((await session.run("x")).error?.type, "NameError");
    await session.end();
    assert.equal(session.info.state, "ended");
    await assert.rejects(session.run("1"), (error) => error instanceof client.Ended && error.status === 410);
    const fresh = await adder.sessions.ensure(`s-${mark}`);
    assert.notEqual(fresh.id, session.id);
    await fresh.end();
    await adder.withSession(async (one) => void (await one.run("import os; os._exit(3)"))); // it ended itself
    const inside = await adder.withSession(async (one) => [one.id, (await one.run("5")).text]);
    assert.equal(inside[1], "5");
    assert.equal((await adder.sessions.get(inside[0]!)).info.state, "ended");
  },

  async an_interrupted_cell_leaves_its_session() {
    await adder.withSession(async (session) => {
      const cell = session.stream(`y = 5\n${FOREVER}`);
      const events = cell[Symbol.asyncIterator]();
      assert.equal((await events.next()).value?.type, "started");
      assert.equal((await events.next()).value?.type, "stdout");
      await session.interrupt();
      assert.equal((await cell.result()).error?.type, "KeyboardInterrupt");
      assert.equal((await session.run("y")).text, "5");
    });
  },

  async files_of_a_session_go_in_and_out() {
    await adder.withSession(async (session) => {
      await session.files.put("a,b\n", { name: "sub/sales.csv" });
      await session.files.put(new Blob([Uint8Array.of(0, 255)]), { name: `it's "odd" \\ \u2028` });
      (await session.run("open('copy.csv', 'w').write(open('sub/sales.csv').read() * 2)")).check();
      const listed = Object.fromEntries((await session.files.list()).map((file) => [file.name, file.bytes]));
      assert.deepEqual(listed, { "sub/sales.csv": 4, "copy.csv": 8, [`it's "odd" \\ \u2028`]: 2 });
      assert.equal(await session.files.text("copy.csv"), "a,b\na,b\n");
      assert.deepEqual(await session.files.get(`it's "odd" \\ \u2028`), Uint8Array.of(0, 255));
      await assert.rejects(session.files.get("none"), client.NotFound);
      await assert.rejects(session.files.get("sub"), (error) => {
        return (
          error instanceof client.AdderError &&
          !(error instanceof client.NotFound) &&
          /directory/.test(error.message)
        );
      });
      assert.deepEqual(await session.variables(), []);
      await session.run("import builtins; builtins.print = lambda *a: None");
      await assert.rejects(session.files.list(), client.UnexpectedReply);
    });
  },

  async files_go_in_and_out() {
    const content = new Uint8Array(3_000_000).map((_, at) => at % 251);
    const directory = await folder();
    await writeFile(join(directory, "in.bin"), content);
    const kept = await adder.files.put(await fromPath(join(directory, "in.bin")));
    assert.deepEqual([kept.name, kept.bytes, kept.kind], ["in.bin", content.length, "uploaded"]);
    assert.equal(
      (await adder.files.put(content, { name: "again.bin", conversation: mark })).sha256,
      kept.sha256,
    );
    assert.deepEqual(await adder.files.get(kept.file_id), content);
    assert.deepEqual(
      new Uint8Array(Buffer.concat(await all(adder.files.stream(kept, { start: 1000 })))),
      content.subarray(1000),
    );
    for await (const piece of adder.files.stream(kept)) {
      assert.ok(piece.length > 0);
      break; // what is left is not read
    }
    await saveFile(adder.files, kept, join(directory, "out.bin"));
    assert.deepEqual(new Uint8Array(await readFile(join(directory, "out.bin"))), content);
    await assert.rejects(saveFile(adder.files, kept, join(directory, "out.bin")), /is there already/);
    assert.deepEqual(
      (await all(adder.files.list({ conversation: mark }))).map((file) => file.name),
      ["again.bin"],
    );
    const page = await adder.files.page({ limit: 1 });
    assert.ok(page.files.length === 1 && page.next);
    const names = new Set((await all(adder.files.list())).map((file) => file.name));
    assert.ok(names.has("in.bin") && names.has("again.bin"));
    await adder.files.delete(kept);
    await assert.rejects(adder.files.show(kept), client.NotFound);
    await assert.rejects(adder.files.put("x"), /name/);
  },

  async files_of_a_run_are_saved_below() {
    const made = await adder.run(
      "import os; os.mkdir('d')\nopen('a','w').write('1'); open('d/.b','w').write('22')",
    );
    const directory = await folder();
    const paths = await saveFiles(adder.files, made.check().files, join(directory, "new"));
    assert.deepEqual(paths.sort(), [join(directory, "new/a"), join(directory, "new/d/_b")]);
    assert.equal(await readFile(join(directory, "new/d/_b"), "utf8"), "22");
    await assert.rejects(saveFiles(adder.files, made.files, join(directory, "new")), /already/);
    await saveFiles(adder.files, made.files, join(directory, "new"), { force: true });
    await mkdir(join(directory, "linked"));
    await mkdir(join(directory, "other"));
    await symlink(join(directory, "other"), join(directory, "linked/d"));
    await assert.rejects(saveFiles(adder.files, made.files, join(directory, "linked")), /link/);
    assert.deepEqual(
      [await readdir(join(directory, "other")), await readdir(join(directory, "linked"))],
      [[], ["d"]],
    );
    for (const name of ["../x", "/etc/x", "a/../../x", "", "a//b", ".", "a\\b"]) {
      const bad = [
        { name: "fine", file_id: "1" },
        { name, file_id: "1" },
      ];
      await assert.rejects(saveFiles(adder.files, bad, join(directory, "none")), /nothing is written/);
    }
    await assert.rejects(lstat(join(directory, "none")), /ENOENT/);
  },

  async long_output_is_read_on() {
    const result = (await adder.run("for i in range(100000): print(i)")).check();
    assert.ok(result.truncated && result.result_id);
    const whole = (await all(adder.results.read(result.result_id))).join("");
    assert.equal(whole, Array.from({ length: 100000 }, (_, i) => `${i}\n`).join(""));
    const { lines } = await adder.results.part(result.result_id, { grep: "^777$" });
    assert.deepEqual(
      lines?.map((line) => line.text),
      ["777"],
    );
  },

  async records_say_what_ran() {
    const { run_id } = (await adder.run("'a mark of its own'", { conversation: mark })).check();
    assert.equal((await adder.records.show(run_id)).code, "'a mark of its own'");
    const listed = await all(adder.records.list({ conversation: mark }));
    assert.ok(listed.some((record) => record.run_id === run_id));
    assert.ok(Buffer.concat(await all(adder.records.export({ conversation: mark }))).includes(run_id));
    assert.ok((await adder.records.stats({ conversation: mark })).records > 0);
    assert.ok((await adder.profiles()).some((profile) => profile.name === "standard"));
    assert.ok((await adder.environments()).some((environment) => environment.name === "system"));
  },

  async tools_are_listed_and_called() {
    const names = (await adder.tools.list({ toolset: "adder" })).map((tool) => tool.name);
    assert.ok(names.includes("run_python"));
    const definitions = await adder.tools.definitions("anthropic", { toolset: "adder" });
    assert.deepEqual(definitions.map((each) => each["name"]).sort(), [...names].sort());
    const reply = await adder.tools.call("run_python", { code: "40 + 2" }, { toolset: "adder" });
    assert.ok(!reply.is_error && reply.reply["value"] === "42" && reply.text.includes('"42"'));
    const wrong = await adder.tools.call("run_python", { cod: "1" }, { toolset: "adder" });
    assert.ok(wrong.is_error && wrong.text.includes("did you mean code"));
    const last = (await all(adder.tools.stream("run_python", { code: "print(1)" }, { toolset: "adder" }))).at(
      -1,
    );
    assert.ok(last?.type === "reply" && last.reply.reply["stdout"] === "1\n");
  },

  async a_person_decides() {
    const asked = await person.run("print('done')", { profile: "workbench" });
    assert.equal(asked.outcome, "approval_required");
    await assert.rejects(adder.approvals.approve(asked.approval_id!), client.ProblemError);
    const waiting = person.approvals.get(asked.approval_id!, { waitMs: 60_000 });
    assert.ok((await person.approvals.list()).some((each) => each.approval_id === asked.approval_id));
    await person.approvals.approve(asked.approval_id!);
    assert.equal((await waiting).state, "approved");
    assert.equal((await person.run("print('done')", { profile: "workbench" })).stdout, "done\n");
    const other = await person.run("print('no')", { profile: "workbench" });
    assert.equal((await person.approvals.deny(other.approval_id!, { reason: "not today" })).state, "denied");
    assert.deepEqual(await person.reviews.list(), []);
    await assert.rejects(person.reviews.drop("01a2043c-e6f2-7180-b693-611d592b20a2"), client.NotFound);
  },

  async problems_are_errors_of_their_kind() {
    await assert.rejects(adder.run("1", { limits: { wall_ms: -1 } }), (error) => {
      assert.ok(
        error instanceof client.InvalidRequest &&
          error instanceof client.AdderError &&
          error instanceof Error,
      );
      assert.deepEqual(
        [error.name, error.status, error.code, error.message],
        ["InvalidRequest", 400, "invalid", error.detail],
      );
      return error.problem["status"] === 400;
    });
    await assert.rejects(adder.sessions.get("there-is-none"), client.NotFound);
    await assert.rejects(adder.sessions.get("../../healthz"), client.InvalidRequest);
    await assert.rejects(adder.sessions.get(".."), client.ProblemError);
    await assert.rejects(new Adder({ token: "adder_wrong" }).run("1"), client.Unauthorized);
    await assert.rejects(new Adder({ url: "unix:/nowhere/at.all" }).run("1"), client.ConnectionFailed);
    await assert.rejects(new Adder({ url: "http://127.0.0.1:1" }).run("1"), client.ConnectionFailed);
    for (const url of ["ftp://x", "127.0.0.1:7117", ""]) assert.throws(() => new Adder({ url }), /http:\/\//);
    assert.throws(() => new Adder({ timeoutMs: 0 }), RangeError);
    assert.throws(() => new Adder({ maxRetries: 1000 }), RangeError);
    const token = process.env["ADDER_TOKEN"]!;
    const error = await adder.run("1", { limits: { wall_ms: -1 } }).catch((caught: unknown) => caught);
    assert.ok(
      !(inspect(adder, { depth: 9, showHidden: true }) + inspect(error, { depth: 9 })).includes(token),
    );
  },

  async what_is_busy_is_asked_again() {
    let asked = 0;
    const answer = (request: IncomingMessage, response: ServerResponse) => {
      asked++;
      if (request.url === "/v1/runs" && asked > 2) response.end('{"runs": []}');
      else problem(response, 429, { "Retry-After": "0" });
    };
    await madeUp(answer, async (url) => {
      assert.deepEqual(await new Adder({ url }).running(), []);
      assert.equal(asked, 3);
      await assert.rejects(new Adder({ url, maxRetries: 3 }).sessions.list(), (error) => {
        return error instanceof client.Busy && error.retryAfter === 0 && error.code === "a_code";
      });
      assert.equal(asked, 3 + 4);
    });
    // Nothing else is asked again: it may have run.
    asked = 0;
    await madeUp(
      (_, response) => (asked++, problem(response, 503, { "Retry-After": "0" })),
      async (url) => {
        await assert.rejects(new Adder({ url }).run("1"), client.Busy);
        assert.equal(asked, 1);
      },
    );
    // A long pause ends with its signal.
    await madeUp(
      (_, response) => problem(response, 429, { "Retry-After": "3600" }),
      async (url) => {
        await assert.rejects(new Adder({ url }).run("1", { signal: AbortSignal.timeout(200) }), {
          name: "TimeoutError",
        });
      },
    );
  },

  async a_run_without_room_has_a_result() {
    const busy = { outcome: "busy", value: null, stdout: "", files: [], displays: [] };
    const answer = (_: IncomingMessage, response: ServerResponse) => {
      response.writeHead(429, { "Content-Type": "application/json", "Retry-After": "0" });
      response.end(JSON.stringify(busy));
    };
    await madeUp(answer, async (url) => {
      const patient = new Adder({ url, maxRetries: 1 });
      assert.equal((await patient.run("1")).outcome, "busy");
      assert.equal((await patient.stream("1").result()).outcome, "busy");
    });
  },

  async two_that_make_a_session_share_it() {
    const info = { session_id: "i", name: "s", state: "idle" };
    const asked: string[] = [];
    const answer = (request: IncomingMessage, response: ServerResponse) => {
      asked.push(`${request.method} ${request.url}`);
      if (request.method === "POST") problem(response, 409);
      else if (asked.length === 1) problem(response, 404);
      else response.end(JSON.stringify(info));
    };
    await madeUp(answer, async (url) => {
      assert.equal((await new Adder({ url }).sessions.ensure("s")).id, "i");
      assert.deepEqual(asked, ["GET /v1/sessions/s", "POST /v1/sessions", "GET /v1/sessions/s"]);
      await assert.rejects(new Adder({ url }).sessions.new({ name: "s" }), client.Conflict);
    });
  },

  async a_server_that_is_none() {
    const answer = (request: IncomingMessage, response: ServerResponse) => {
      if (request.url?.startsWith("/v1/tools")) response.end("<html>");
      else if (request.url === "/v1/sessions") response.end("[1]");
      else if (request.url === "/v1/records/stats")
        response.writeHead(302, { Location: "http://127.0.0.1:1/" }).end();
      else response.end('event: started\ndata: {"run_id": "r"}\n\n: alive\n\nevent: new\ndata: 1\n\n');
    };
    await madeUp(answer, async (url) => {
      const other = new Adder({ url });
      await assert.rejects(other.tools.list(), client.UnexpectedReply);
      await assert.rejects(other.sessions.list(), client.UnexpectedReply);
      await assert.rejects(
        other.records.stats(),
        (error) => error instanceof client.ProblemError && error.status === 302,
      );
      const events = other.stream("1")[Symbol.asyncIterator]();
      assert.deepEqual((await events.next()).value, { type: "started", run_id: "r" });
      await assert.rejects(events.next(), client.StreamBroken);
    });
    await madeUp(
      (_, response) => (
        response.writeHead(200, { "Content-Length": "100" }),
        response.write("{"),
        response.destroy()
      ),
      async (url) => assert.rejects(new Adder({ url }).run("1"), client.ConnectionFailed),
    );
  },

  async a_wait_that_is_too_long_is_an_error() {
    await madeUp(
      () => undefined,
      async (url) => {
        const hasty = new Adder({ url, timeoutMs: 100 });
        await assert.rejects(hasty.sessions.list(), (error) => {
          return error instanceof client.RequestTimeout && error instanceof client.ConnectionFailed;
        });
        const own = new Error("own");
        await assert.rejects(hasty.run("1", { signal: abortedSoon(own) }), own); // to run has no deadline
      },
    );
    // Headers alone are no answer.
    await madeUp(
      (_, response) => (response.writeHead(200), void response.write("{")),
      async (url) =>
        assert.rejects(new Adder({ url, timeoutMs: 100 }).sessions.list(), client.RequestTimeout),
    );
  },

  async a_fetch_of_the_caller_asks() {
    const asked: string[] = [];
    const own = new Adder({
      fetch: (url, init) => {
        asked.push(String(url));
        return fetch(url, init);
      },
    });
    assert.equal((await own.run("2 + 2")).text, "4");
    assert.deepEqual(asked, [`${process.env["ADDER_URL"]}/v1/runs`]);
    const kept = await own.files.put("by fetch", { name: "a.txt" });
    assert.equal(await own.files.text(kept), "by fetch");
  },

  async many_at_once_are_not_mixed_up() {
    const results: Result[] = await Promise.all(Array.from({ length: 16 }, (_, n) => adder.run(`${n} + 1`)));
    assert.deepEqual(
      results.map((result) => result.text),
      Array.from({ length: 16 }, (_, n) => String(n + 1)),
    );
  },
};

function abortedSoon(reason: Error): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(reason), 300);
  return controller.signal;
}

await steps[process.argv[2]!]!();
