/** What the README tells a newcomer to type: the block of the first terminal, and those of the second, in their order. */
export function stepsOf(readme) {
  const section = readme.split(/^## /m).find((each) => each.startsWith('Five minutes at the terminal'))
  if (section === undefined) throw new Error('The README has no section "Five minutes at the terminal".')
  const blocks = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => linesOf(block))
  const [first = [], ...others] = blocks
  const [start = '', ...rest] = first
  if (rest.length > 0) throw new Error('The first terminal is told to type one line.')
  return { start, typed: others.flat() }
}

/** A line without what is said about it. */
function linesOf(block) {
  return block
    .split('\n')
    .map((line) => line.replace(/\s+# .*$/, '').trim())
    .filter((line) => line !== '')
}
