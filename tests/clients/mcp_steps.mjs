// SPDX-License-Identifier: Apache-2.0
// What an MCP client does with Adder, by the official packages for TypeScript: node mcp_steps.mjs '{...}', with which package
// ("client", the present one, or "sdk", the one before), era, and either command and arguments or a URL and a token. Prints what
// each step saw as one JSON object; the test judges.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const asked = JSON.parse(process.argv[2])
const require = createRequire(asked.packages + '/')
const load = async (name) => import(pathToFileURL(require.resolve(name)).href)

const NAME = { name: 'steps', version: '1' }
const CAPABILITIES = { capabilities: { elicitation: { form: {} } } }
const FOREVER = "import time\nprint('started', flush=True)\nwhile True: time.sleep(0.01)"

async function makeClient(answer) {
  const package_ = `@modelcontextprotocol/${asked.package}`
  let client, call, transport
  if (asked.package === 'sdk') {
    const { Client } = await load(`${package_}/client/index.js`)
    const { ElicitRequestSchema } = await load(`${package_}/types.js`)
    client = new Client(NAME, CAPABILITIES)
    client.setRequestHandler(ElicitRequestSchema, answer)
    call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options)
    if (asked.url) transport = (await load(`${package_}/client/streamableHttp.js`)).StreamableHTTPClientTransport
    else transport = (await load(`${package_}/client/stdio.js`)).StdioClientTransport
  } else {
    const { Client, StreamableHTTPClientTransport } = await load(package_)
    client = new Client(NAME, { ...CAPABILITIES, versionNegotiation: { mode: asked.mode } })
    client.setRequestHandler('elicitation/create', answer)
    call = (name, args, options) => client.callTool({ name, arguments: args }, options)
    transport = asked.url ? StreamableHTTPClientTransport : (await load(`${package_}/stdio`)).StdioClientTransport
  }
  const way = asked.url
    ? new transport(new URL(asked.url), { requestInit: { headers: { Authorization: `Bearer ${asked.token}` } } })
    : new transport({ command: asked.command, args: asked.arguments, env: asked.environment, cwd: asked.directory })
  await client.connect(way)
  return { client, call }
}

const text = (result) => result.content.filter((part) => part.type === 'text').map((part) => part.text).join('').trimEnd()
const seen = { asked: [] }
const answers = [{ decision: 'yes' }, { decision: 'no', reason: 'not today' }]

const { client, call } = await makeClient(async (request) => {
  seen.asked.push(request.params.message)
  return { action: 'accept', content: answers.shift() }
})
try {
  seen.tools = (await client.listTools()).tools.map((tool) => tool.name)
  const run = await call('run_python', { code: "print('hi')\n6 * 7" })
  seen.run = { text: text(run), value: run.structuredContent.value, error: run.isError ?? false }
  const failed = await call('run_python', { code: '1 / 0' })
  seen.failed = { text: text(failed), error: failed.isError }

  const session = (await call('session_new', {})).structuredContent.session_id
  await call('run_python', { code: 'x = 41', session })
  seen.session = text(await call('run_python', { code: 'x + 1', session }))
  seen.ended = (await call('session_end', { session })).structuredContent.state

  const shown = await call('run_python', { code: asked.picture })
  const picture = shown.content.find((part) => part.type === 'image')
  seen.picture = { mime: picture.mimeType, data: picture.data }

  const made = await call('run_python', { code: "open('a.txt', 'w').write('kept')" })
  const link = made.content.find((part) => part.type === 'resource_link')
  seen.file = { name: link.name, text: (await client.readResource({ uri: link.uri })).contents[0].text }

  const yes = await call('run_python', { code: "print('done')", profile: 'workbench' })
  const no = await call('run_python', { code: "print('no')", profile: 'workbench' })
  seen.approved = { text: text(yes), error: yes.isError ?? false }
  seen.denied = { text: text(no), error: no.isError }

  const control = new AbortController()
  let told
  const begun = new Promise((resolve) => (told = resolve))
  const endless = call('run_python', { code: FOREVER, timeout: 600 }, { signal: control.signal, onprogress: (notice) => told(notice) })
  endless.catch(() => {})
  seen.progress = (await begun).message
  control.abort('enough')
  seen.cancelled = await endless.then(() => 'no', () => 'yes')
  seen.after = text(await call('run_python', { code: "'still there'" }))
} finally {
  await client.close()
}
console.log(JSON.stringify(seen))
