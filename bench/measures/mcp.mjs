import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { Belfry } from '../../dist/index.js'
import { shop, tokensIn } from '../tokens.mjs'

const binary = fileURLToPath(new URL('../../bin/belfry.js', import.meta.url))

/** How much of a model's context the MCP door takes: the tools before anything is asked, and the answers to common questions. */
export async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-bench-mcp-'))
  const store = `sqlite:${join(folder, 'belfry.db')}`
  try {
    await fill(store)
    const rows = []
    for (const scope of ['operate', 'admin']) {
      for (const tools of ['default', 'all']) {
        await asked({ store, scope, tools }, async (client) => {
          const answer = await client.listTools()
          rows.push({ what: `tools/list, ${tools} (${answer.tools.length})`, scope, tokens: tokensOf(answer) })
        })
      }
    }
    await asked({ store, scope: 'operate', tools: 'default' }, async (client) => {
      const call = async (what, name, args = {}) => {
        const { content } = await client.callTool({ name, arguments: args })
        rows.push({ what, scope: 'operate', tokens: content.reduce((sum, { text }) => sum + tokensIn(text), 0) })
      }
      await call('schedule_list of 20 schedules', 'schedule_list')
      await call('the same with detail: full', 'schedule_list', { detail: 'full' })
      await call('schedule_get', 'schedule_get', { name: shop[0].name })
      await call('schedule_explain', 'schedule_explain', { name: shop[0].name })
      await call('store_doctor', 'store_doctor')
    })
    // No disk is measured here.
    return { fsync: undefined, rows }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function fill(store) {
  const belfry = await Belfry.open({ store, log: false })
  for (const { name, spec, pause } of shop) {
    await belfry.schedules.put(name, spec)
    if (pause !== null) await belfry.schedules.pause(name, pause)
  }
  await belfry.close()
}

async function asked({ store, scope, tools }, ask) {
  const args = [binary, 'mcp', '--store', store, '--scope', scope, '--tools', tools]
  const client = new Client({ name: 'bench', version: '1' })
  await client.connect(new StdioClientTransport({ command: process.execPath, args }))
  await ask(client)
  await client.close()
}

function tokensOf(answer) {
  return tokensIn(JSON.stringify(answer))
}
