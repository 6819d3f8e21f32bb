import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Terminal } from '../../../doors/cli/terminal.ts'

// Without git, Belfry cannot know whether a file came with the checkout.
const withGit = it.skipIf(spawnSync('git', ['--version']).status !== 0)

let terminal: Terminal
beforeEach(() => {
  terminal = new Terminal()
  for (const folder of ['.git', '.claude', '.codex']) mkdirSync(join(terminal.folder, folder))
})
afterEach(() => terminal.remove())

const settings = '{\n    "model": "opus", "hooks": { "Stop": [ { "hooks": [] } ] }\n}'
const toml = 'model = "gpt-5"\n\n[features]\nhooks = true'
const claudeTask = { id: '3f9c01ab', cron: '0 9 * * 1-5', prompt: 'Triage the inbox', recurring: true, permanent: true }
const claudeTasks = JSON.stringify({ tasks: [claudeTask] })
const text = (path: string) => readFileSync(join(terminal.folder, path), 'utf8')

/** Every file of the project with its text, except Belfry's own files. */
function project(): Record<string, string> {
  const files = readdirSync(terminal.folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
  const paths = files.map(({ parentPath, name }) => join(parentPath, name).slice(terminal.folder.length + 1))
  return Object.fromEntries(paths.filter((path) => !path.startsWith('.belfry/')).map((path) => [path, text(path)]))
}

const mcp = { mcpServers: { belfry: { command: 'belfry', args: ['mcp', '--tools', 'tasks'] } } }

describe('belfry install', () => {
  withGit(
    'puts server and hook beside what is there, imports the tasks, changes nothing the second time, and is undone to the byte',
    async () => {
      terminal.write('.claude/settings.json', settings)
      terminal.write('.claude/scheduled_tasks.json', claudeTasks)
      execFileSync('git', ['init', '-q'], { cwd: terminal.folder })
      const before = project()
      const rehearsed = await terminal.belfry('install claude --dry-run')
      expect(rehearsed.stdout).toContain('would import 1 of Claude’s tasks')
      expect([project(), existsSync(join(terminal.folder, '.belfry'))]).toEqual([before, false])
      const { exit, stdout } = await terminal.belfry('install claude')
      expect([exit, stdout]).toEqual([0, expect.stringContaining('Claude still fires its own copy of 1')])
      expect(JSON.parse(text('.mcp.json'))).toEqual(mcp)
      expect(
        text('.claude/settings.json').startsWith('{\n    "model": "opus", "hooks": { "Stop": [ { "hooks": [] }, {'),
      ).toBe(true)
      expect(JSON.parse(text('.claude/settings.json')).hooks.Stop[1].hooks).toEqual([
        { type: 'command', command: 'belfry hook claude-stop' },
        { type: 'command', command: 'belfry hook claude-stop --rewake', asyncRewake: true, timeout: 600 },
      ])
      expect((await terminal.json<{ id: string }[]>('task list')).map(({ id }) => id)).toEqual(['3f9c01ab'])
      const installed = project()
      expect((await terminal.belfry('install claude')).stdout).toContain('Nothing was changed: it is installed.')
      expect(project()).toEqual(installed)
      expect((await terminal.belfry('uninstall claude')).stdout).toMatch(/took out +task 3f9c01ab/)
      expect([project(), await terminal.json('task list')]).toEqual([before, []])
      expect((await terminal.belfry('uninstall claude')).stdout).toContain('install has done nothing here')
    },
  )

  it('for codex writes a table and a hook, and is undone to the byte, with the folder that it made', async () => {
    terminal.write('.codex/config.toml', toml)
    const before = project()
    await terminal.belfry('install codex --namespace team')
    expect(text('.codex/config.toml')).toBe(`${toml}

# Belfry: begin. \`belfry uninstall codex\` removes this block.
[mcp_servers.belfry]
command = "belfry"
args = ["mcp", "--tools", "tasks", "--namespace", "team"]
# Belfry: end.
`)
    expect(JSON.parse(text('.codex/hooks.json')).hooks.Stop[0].hooks[0].command).toBe(
      'belfry hook codex --namespace team',
    )
    expect((await terminal.belfry('install codex')).stdout).toContain('Nothing was changed')
    await terminal.belfry('uninstall codex')
    expect(project()).toEqual(before)
    rmSync(join(terminal.folder, '.codex'), { recursive: true })
    await terminal.belfry('install codex')
    await terminal.belfry('uninstall codex')
    expect(existsSync(join(terminal.folder, '.codex'))).toBe(false)
  })

  it('takes out its own alone where files were edited since, and leaves what was changed', async () => {
    await terminal.belfry('install claude')
    const edited = { mcpServers: { ...mcp.mcpServers, other: { command: 'x' } } }
    terminal.write('.mcp.json', JSON.stringify(edited))
    terminal.write('.claude/settings.json', text('.claude/settings.json').replace('600', '60'))
    const { stdout } = await terminal.belfry('uninstall claude')
    expect(stdout).toMatch(/took out +\.mcp\.json.*\n +kept +\.claude\/settings\.json/)
    expect(JSON.parse(text('.mcp.json'))).toEqual({ mcpServers: { other: { command: 'x' } } })
    expect(text('.claude/settings.json')).toContain('claude-stop')
  })

  it('leaves an entry that a person made, and does not take it out again', async () => {
    terminal.write('.mcp.json', '{"mcpServers":{"belfry":{"command":"mine"}}}')
    terminal.write('.codex/config.toml', '[mcp_servers."belfry"]\ncommand = "mine"\n')
    const before = [text('.mcp.json'), text('.codex/config.toml')]
    for (const command of ['install claude', 'install codex', 'uninstall claude', 'uninstall codex']) {
      expect((await terminal.belfry(command)).exit).toBe(0)
    }
    expect([text('.mcp.json'), text('.codex/config.toml')]).toEqual(before)
  })

  withGit('keeps an imported task that was changed here, and one that Claude no longer has', async () => {
    const others = ['aaaaaaaa', 'bbbbbbbb'].map((id) => ({ ...claudeTask, id, prompt: id }))
    execFileSync('git', ['init', '-q'], { cwd: terminal.folder })
    terminal.write('.claude/scheduled_tasks.json', JSON.stringify({ tasks: [claudeTask, ...others] }))
    await terminal.belfry('install claude')
    await terminal.belfry('task edit aaaaaaaa --model opus')
    terminal.write('.claude/scheduled_tasks.json', JSON.stringify({ tasks: [claudeTask, others[0]] }))
    await terminal.belfry('uninstall claude')
    expect((await terminal.json<{ id: string }[]>('task list')).map(({ id }) => id)).toEqual(['aaaaaaaa', 'bbbbbbbb'])
  })

  withGit('imports no prompt of a file that came with the checkout', async () => {
    rmSync(join(terminal.folder, '.git'), { recursive: true })
    terminal.write('.claude/scheduled_tasks.json', claudeTasks)
    execFileSync('git', ['init', '-q'], { cwd: terminal.folder })
    execFileSync('git', ['add', '.claude'], { cwd: terminal.folder })
    const { stdout } = await terminal.belfry('install claude')
    expect(stdout).toContain('may have come with the checkout: read its prompts, then belfry import claude')
    expect(existsSync(join(terminal.folder, '.belfry/belfry.db'))).toBe(false)
  })

  it.each([
    ['claude', '.mcp.json', '{ "mcpServers": { }', 'is not whole JSON: it ends where'],
    ['claude', '.claude/settings.json', '{ "hooks": [] }', 'has hooks that is no object'],
    ['claude', '.claude/settings.json', '{ "hooks": { "Stop": {} } }', 'has Stop that is no list'],
    ['codex', '.codex/hooks.json', '{,}', 'is not JSON at character 2'],
    ['codex', '.codex/config.toml', 'a = """\nopen', 'has a text that is not closed in line 1'],
    ['codex', '.codex/config.toml', 'a = [1,\n', 'has a bracket that is not closed'],
    ['codex', '.codex/config.toml', 'mcp_servers = { a = { command = "x" } }\n', 'has mcp_servers on one line'],
  ])('for %s refuses %s that says %s, and writes nothing', async (agent, path, wrong, message) => {
    terminal.write(path, wrong)
    const before = project()
    const { exit, stderr } = await terminal.belfry(`install ${agent}`)
    expect([exit, stderr]).toEqual([2, expect.stringContaining(message)])
    expect(project()).toEqual(before)
  })

  it('follows no link, wants an agent that it knows, and writes no password into settings', async () => {
    const elsewhere = terminal.write('elsewhere.json', '{}')
    symlinkSync(elsewhere, join(terminal.folder, '.mcp.json'))
    expect((await terminal.belfry('install claude')).stderr).toContain('is a symbolic link')
    expect(text('elsewhere.json')).toBe('{}')
    rmSync(join(terminal.folder, '.mcp.json'))
    expect((await terminal.belfry('install gemini')).stderr).toContain('(expected: claude or codex)')
    expect((await terminal.belfry('install claude --store postgres://u:secret@h/db')).stderr).toContain(
      'has a password',
    )
    expect((await terminal.belfry('install claude --server http://127.0.0.1:1')).exit).toBe(2)
    expect(readdirSync(terminal.folder)).not.toContain('.mcp.json')
  })
})
