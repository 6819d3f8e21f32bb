import { unfit } from './plain-file.ts'

const pieces =
  /"""(?:[^\\]|\\[\s\S])*?"""|'''[\s\S]*?'''|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[[\]{}]|\s+|[^\s"'#[\]{}]+/y
const begin = '# Belfry: begin. `belfry uninstall codex` removes this block.'
const end = '# Belfry: end.'

/** Whether a TOML file has the table that Belfry writes. A file to which no table can be added is refused. */
export function serverIn(path: string, text: string): 'none' | 'there' {
  const plain = withoutTexts(path, text)
  if (/^\s*mcp_servers\s*=/m.test(plain)) {
    throw unfit(path, 'has mcp_servers on one line', 'a table, [mcp_servers.NAME], for each server')
  }
  const isNamed = /^\s*\[\s*mcp_servers\s*\.\s*(["']?)belfry\1\s*[.\]]|^\s*mcp_servers\s*\.\s*(["']?)belfry\2\s*[.=]/m
  const under = /^\s*\[\s*mcp_servers\s*\][^[]*^\s*(["']?)belfry\1\s*[.=]/m
  return isNamed.test(plain) || under.test(plain) ? 'there' : 'none'
}

/** The table is added at the end of the file, because top-level keys must stand before every table. */
export function blockOf(text: string, [command, ...args]: readonly string[]): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const listed = args.map((word) => JSON.stringify(word)).join(', ')
  const lines = [begin, '[mcp_servers.belfry]', `command = ${JSON.stringify(command)}`, `args = [${listed}]`, end]
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol
  return gap + lines.join(eol) + eol
}

/** The text without comments and multi-line strings. An unclosed string or bracket would swallow the added table. */
function withoutTexts(path: string, text: string): string {
  let plain = ''
  let depth = 0
  for (let at = 0; at < text.length; at = pieces.lastIndex) {
    pieces.lastIndex = at
    const piece = pieces.exec(text)?.[0]
    if (piece === undefined)
      throw unfit(path, `has a text that is not closed in line ${lineOf(text, at)}`, 'valid TOML')
    if (piece === '[' || piece === '{') depth++
    if (piece === ']' || piece === '}') depth--
    if (depth < 0) throw unfit(path, `has a bracket too many in line ${lineOf(text, at)}`, 'valid TOML')
    plain += /^("""|'''|#)/.test(piece) ? '' : piece
    pieces.lastIndex = at + piece.length
  }
  if (depth > 0) throw unfit(path, 'has a bracket that is not closed', 'valid TOML')
  return plain
}

function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}
