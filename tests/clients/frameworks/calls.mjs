// SPDX-License-Identifier: Apache-2.0
// calls.py for frameworks in TypeScript: calls.mjs NAME, with the server and the cells on standard input, and `packages`, the directory
// of node_modules.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const { command, args, env, cells, packages } = JSON.parse(readFileSync(0, 'utf8'))
const require = createRequire(`${packages}/package.json`)
const load = (name) => import(pathToFileURL(require.resolve(name)))
const versionOf = (name) => JSON.parse(readFileSync(`${packages}/node_modules/${name}/package.json`, 'utf8')).version

// The model of each asks for the next cell until none is left, and keeps what it is told.
const left = [...cells]
const told = []
const tools = new Set()

const frameworks = {
  async vercel_ai() {
    const [{ generateText, stepCountIs }, { MockLanguageModelV4 }] = [await load('ai'), await load('ai/test')]
    const [{ createMCPClient }, { Experimental_StdioMCPTransport: Stdio }] = [await load('@ai-sdk/mcp'), await load('@ai-sdk/mcp/mcp-stdio')]
    const client = await createMCPClient({ transport: new Stdio({ command, args, env }) })
    const model = new MockLanguageModelV4({
      doGenerate: async ({ prompt, tools: offered }) => {
        for (const { name } of offered) tools.add(name)
        if (prompt.at(-1).role === 'tool') told.push(prompt.at(-1).content.map((part) => part.output))
        const input = left.length > 0 && JSON.stringify({ code: left.shift() })
        const call = { type: 'tool-call', toolCallId: String(left.length), toolName: 'run_python', input }
        const said = input ? call : { type: 'text', text: 'done' }
        const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
        return { content: [said], finishReason: { unified: input ? 'tool-calls' : 'stop' }, usage, warnings: [] }
      },
    })
    try {
      await generateText({ model, prompt: 'go', tools: await client.tools(), stopWhen: stepCountIs(cells.length + 1) })
    } finally {
      await client.close()
    }
    return versionOf('@ai-sdk/mcp')
  },

  async openai_agents_js() {
    const { Agent, MCPServerStdio, Runner, Usage } = await load('@openai/agents')
    const server = new MCPServerStdio({ command, args, env, clientSessionTimeoutSeconds: 60 })
    const model = {
      async getResponse({ input, tools: offered }) {
        for (const { name } of offered) tools.add(name)
        if (input.at(-1).type === 'function_call_result') told.push(input.at(-1).output)
        const call = { type: 'function_call', callId: String(left.length), name: 'run_python', status: 'completed' }
        const text = { type: 'output_text', text: 'done' }
        const said = left.length > 0
          ? { ...call, arguments: JSON.stringify({ code: left.shift() }) }
          : { type: 'message', role: 'assistant', status: 'completed', content: [text] }
        return { usage: new Usage(), output: [said] }
      },
    }
    await server.connect()
    try {
      const agent = new Agent({ name: 'agent', model, mcpServers: [server] })
      await new Runner({ tracingDisabled: true }).run(agent, 'go')
    } finally {
      await server.close()
    }
    return versionOf('@openai/agents')
  },
}

const version = await frameworks[process.argv[2]]()
console.log(JSON.stringify({ version, tools: [...tools].sort(), told: told.map((each) => JSON.stringify(each)) }))
