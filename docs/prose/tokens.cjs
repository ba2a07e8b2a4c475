// SPDX-License-Identifier: Apache-2.0
// Holds the table in docs/mcp.md of what tools cost a model against the program: tokens.cjs ADDER [--write]
// Counts as OpenAI's models do (o200k_base), whose vocabulary is a package; the vocabularies of others are not public.
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const { Tiktoken } = require("js-tiktoken/lite");
const ranks = require("js-tiktoken/ranks/o200k_base");

const PAGE = "docs/mcp.md";
const TABLE = /(<!-- tokens: begin[^\n]*-->\n)[^]*?(\n<!-- tokens: end -->)/;
const TOOLSETS = ["", "full", "workbench", "compute", "code_executor", "assistant", "analyst"];
const MEANT = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "tokens", version: "1" } };

const encoding = new Tiktoken(ranks);
const tokens = (value) => encoding.encode(JSON.stringify(value)).length;

function toolsOf(adder, toolset) {
  const lines = [
    { id: 1, method: "initialize", params: MEANT },
    { method: "notifications/initialized" },
    { id: 2, method: "tools/list" },
  ].map((message) => JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  const said = execFileSync(adder, ["mcp", "--no-daemon", ...(toolset ? ["--toolset", toolset] : [])], { input: lines.join("") });
  const replies = said.toString().trim().split("\n").map((line) => JSON.parse(line));
  return replies.find((reply) => reply.id === 2).result.tools;
}

function rowOf(adder, toolset) {
  const tools = toolsOf(adder, toolset);
  const model = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  const cells = [toolset ? `\`${toolset}\`` : "the default", tools.length, Buffer.byteLength(JSON.stringify(tools)), tokens(model), tokens(tools)];
  return `| ${cells.map((cell) => cell.toLocaleString("en-US")).join(" | ")} |`;
}

const [adder, write] = process.argv.slice(2);
const head = "\n| toolset | tools | bytes | tokens | tokens with output schemas |\n| --- | ---: | ---: | ---: | ---: |\n";
const table = head + TOOLSETS.map((toolset) => rowOf(adder, toolset)).join("\n") + "\n";
const page = fs.readFileSync(PAGE, "utf8");
const current = page.replace(TABLE, (all, begin, end) => begin + table + end);
if (write) fs.writeFileSync(PAGE, current);
else if (current !== page || !TABLE.test(page)) {
  console.log(`${PAGE}: the table of tokens is not current; it is\n${table}`);
  process.exitCode = 1;
}
