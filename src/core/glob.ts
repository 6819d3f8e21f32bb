/** Matches paths with `/` between their names: `*` and `?` within a name, `**` over any number of names, `{a,b}`, `[abc]`. */
export type Glob = (path: string) => boolean

const literal = /[.+^$()|\\]/
const lengthMax = 1_000
const alternativesMax = 100

/** What is wrong with a pattern, or null. */
export function globProblem(pattern: string): string | null {
  if (pattern === '') return 'is empty'
  if (pattern.length > lengthMax) return `has ${pattern.length} characters, more than ${lengthMax}`
  if (pattern.includes('\0')) return 'contains NUL'
  if (pattern.startsWith('/')) return 'begins with a slash'
  if (pattern.split('/').some((name) => name === '..' || name === '.')) return 'contains . or ..'
  const braces = [...pattern].reduce(
    (deep, each) => (deep < 0 ? deep : deep + (each === '{' ? 1 : each === '}' ? -1 : 0)),
    0,
  )
  if (braces !== 0) return 'has a brace without its partner'
  if (expanded(pattern).length > alternativesMax) return `has more than ${alternativesMax} alternatives`
  return null
}

/** A pattern as a function. It compiles to expressions without nested repetition, so that no path makes it slow. */
export function glob(pattern: string): Glob {
  const matchers = expanded(pattern).map((one) => new RegExp(`^${sourceOf(one)}$`, 'u'))
  return (path) => matchers.some((matcher) => matcher.test(path))
}

/** Whether one of the patterns matches. */
export function globs(patterns: readonly string[]): Glob {
  const each = patterns.map(glob)
  return (path) => each.some((matches) => matches(path))
}

/** Braces are written out, innermost first. */
function expanded(pattern: string): string[] {
  const found = /\{([^{}]*)\}/.exec(pattern)
  if (found === null) return [pattern]
  const [whole, inside = ''] = found
  const results: string[] = []
  for (const alternative of inside.split(',')) {
    results.push(...expanded(pattern.slice(0, found.index) + alternative + pattern.slice(found.index + whole.length)))
    if (results.length > alternativesMax) break
  }
  return results
}

function sourceOf(pattern: string): string {
  let source = ''
  for (let at = 0; at < pattern.length; at += 1) {
    const rest = pattern.slice(at)
    const stars = /^\*\*(\/|$)/.exec(rest)
    const set = /^\[([^\]/]+)\]/.exec(rest)
    if (stars !== null && (at === 0 || pattern[at - 1] === '/')) {
      source += stars[1] === '/' ? '(?:[^/]+/)*' : '.*'
      at += stars[0].length - 1
    } else if (set !== null) {
      source += `[${(set[1] as string).replace(/^!/, '^').replace(/[\\\]]/g, '\\$&')}]`
      at += set[0].length - 1
    } else if (rest[0] === '*') {
      while (pattern[at + 1] === '*') at += 1
      source += '[^/]*'
    } else if (rest[0] === '?') source += '[^/]'
    else source += literal.test(rest[0] as string) || rest[0] === '[' || rest[0] === ']' ? `\\${rest[0]}` : rest[0]
  }
  return source
}
