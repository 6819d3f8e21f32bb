/**
 * The stand-ins for agent CLIs, which cannot be had offline. They replay what the real ones are documented to print. The variable
 * STAND_IN, words separated by blanks, says how they misbehave:
 *
 *   fixture:NAME   the lines of fixtures/AGENT-NAME   exit:N    the exit code       stderr:TEXT   a complaint (_ for blanks)
 *   hang:start     never print a line                 hang:end  never end           ask           wait behind a question
 *   flood:MB       lines that mean nothing            half      the last line is cut in the middle
 *   invalid        bytes that are no UTF-8            child     a grandchild that holds the pipes and ignores TERM; child:calm obeys it
 *   deaf           ignore TERM, but for the log       missing   the session to resume is gone
 *   slow           print the first line, and wait     murmur    complain for ever after the last line
 *   edit:FILE      append to a file of its folder     answered  wait behind a question until a line is typed
 *   blab           complain with its token
 *
 * STAND_IN_CALL has tools that it calls at its server with its token, as JSON; the answers go to the log.
 * Words after ` | ` are for the next attempt. STAND_IN_LOG names a file that gets a line for each start: arguments, stdin, pid and environment.
 */
import { spawn } from 'node:child_process'
import { appendFileSync, readFileSync } from 'node:fs'

const [agent, ...args] = process.argv.slice(2)
const attempts = (process.env.STAND_IN ?? '').split(' | ')
const words = (attempts[Number(process.env.BELFRY_ATTEMPT ?? 1) - 1] ?? attempts.at(-1)).split(' ')
const word = (name) => words.find((each) => each.startsWith(`${name}:`))?.slice(name.length + 1)
const has = (name) => words.includes(name)
const forEver = () => new Promise(() => setInterval(() => undefined, 1_000))

if (args.includes('--version')) {
  process.stdout.write(`2.1.7 (stand-in for ${agent})\n`)
  process.exit(0)
}
const input = process.stdin.isTTY ? '' : readFileSync(0, 'utf8')
const { STAND_IN_LOG: log, ...env } = process.env
if (log !== undefined)
  appendFileSync(log, `${JSON.stringify({ agent, args, input, pid: process.pid, cwd: process.cwd(), env })}\n`)
if (has('deaf')) process.on('SIGTERM', () => log && appendFileSync(log, `${JSON.stringify({ deafTo: 'TERM' })}\n`))
if (has('child') || word('child') !== undefined) {
  const stay = `${has('child') ? `trap '' TERM; ` : ''}while :; do sleep 1; done`
  const { pid } = spawn('/bin/sh', ['-c', stay], { stdio: 'inherit' })
  if (log !== undefined) appendFileSync(log, `${JSON.stringify({ child: pid })}\n`)
}
if (word('stderr') !== undefined) process.stderr.write(`${word('stderr').replaceAll('_', ' ')}\n`)
if (has('blab')) process.stderr.write(`My token is ${process.env.BELFRY_TOKEN}\n`)
for (const params of JSON.parse(process.env.STAND_IN_CALL ?? '[]')) {
  const headers = { authorization: `Bearer ${process.env.BELFRY_TOKEN}`, 'content-type': 'application/json' }
  const response = await fetch(`${process.env.BELFRY_SERVER}/mcp`, {
    method: 'POST',
    headers: { ...headers, accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  })
  const { result } = await response.json()
  appendFileSync(
    log,
    `${JSON.stringify({ called: params.name, isError: result?.isError, text: result?.content[0].text })}\n`,
  )
}
if (word('edit') !== undefined) appendFileSync(word('edit'), `${words}\n`)
if (word('hang') === 'start') await forEver()

const resumes = { claude: '--resume', codex: 'resume', gemini: '--resume', opencode: '-s' }[agent]
const at = args.indexOf(resumes)
const resumed = resumes === undefined || at < 0 ? undefined : args[at + 1]
const given = args.includes('--session-id') ? args[args.indexOf('--session-id') + 1] : undefined
if (has('missing') && resumed !== undefined) {
  if (agent !== 'opencode') process.stderr.write(`No conversation found with session ID: ${resumed}\n`)
  process.exit(agent === 'opencode' ? 0 : 1)
}

const file = new URL(`fixtures/${agent}-${word('fixture') ?? 'success'}`, import.meta.url)
const session = resumed ?? given ?? `session-${process.pid}`
const text = readFileSync(file, 'utf8').replaceAll('SESSION', session)
const [first, ...rest] = text.match(/[^\n]*\n/g)
const write = (piece) => new Promise((resolve) => process.stdout.write(piece, resolve))
if (has('ask')) {
  await write('The agent wants to run rm -rf. Do you want to proceed? (y/n) ')
  await forEver()
}
if (has('answered')) {
  await write('\u001b[31mDo you want to proceed? (y/n)\u001b[0m ')
  await new Promise((resolve) => process.stdin.once('data', resolve))
}
await write(first)
if (has('slow')) await forEver()
if (has('invalid')) await write(Buffer.from([0x22, 0xff, 0xfe, 0xc3, 0x28, 0x0a, 0x7b, 0xff, 0x0a]))
const noise = `${JSON.stringify({ type: 'user', message: { content: 'x'.repeat(8_000) } })}\n`
for (let bytes = Number(word('flood') ?? 0) * 1024 ** 2; bytes > 0; bytes -= noise.length) await write(noise)
for (const [index, line] of rest.entries()) {
  const isCut = has('half') && index === rest.length - 1
  await write(isCut ? line.slice(0, Math.floor(line.length / 2)) : line)
}
if (has('murmur')) setInterval(() => process.stderr.write('still here\n'), 20)
if (word('hang') === 'end') await forEver()
process.exit(Number(word('exit') ?? 0))
