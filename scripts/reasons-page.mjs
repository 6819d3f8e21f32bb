/** The tables of docs/explain.md and the checks of docs/doctor.md, from the catalogue of reasons. The rest of both pages is written by hand. */

const header = '| code | sentence | what lets it continue |\n|---|---|---|'

/** The page with the table of each heading as the reasons say it. */
export function explainPage(page, reasonsByHeading) {
  return Object.entries(reasonsByHeading).reduce((text, [heading, reasons]) => {
    const rows = Object.entries(reasons).map(([code, { says, unblocks }]) => `| \`${code}\` | ${says} | ${unblocks} |`)
    const [before, section, after] = cut(text, `## ${heading}`, '\n## ')
    const [prose] = section.split('\n| code |')
    return `${before}${prose.trimEnd()}\n\n${header}\n${rows.join('\n')}\n${after}`
  }, page)
}

/** The page with the checks as they say it themselves. */
export function doctorPage(page, checks) {
  const [before, , after] = cut(page, '## The checks', '\n## ')
  const told = checks.map(({ check, says, unblocks, mends, codes = [] }) =>
    [
      `### ${check}\n`,
      `${says}\n`,
      `**Next:** ${unblocks}\n`,
      ...(mends === undefined ? [] : [`**With \`--fix\`:** ${mends}\n`]),
      ...(codes.length === 0
        ? []
        : [`**Explained as:** ${codes.map((code) => `\`${code}\``).join(', ')} ([codes](explain.md)).\n`]),
    ].join('\n'),
  )
  return `${before}## The checks\n\n${told.join('\n')}${after}`
}

/** What stands before a heading, its section, and what follows it. */
function cut(page, heading, end) {
  const at = page.indexOf(`${heading}\n`)
  const next = page.indexOf(end, at + heading.length)
  const until = next < 0 ? page.length : next
  return [page.slice(0, at), page.slice(at, until), page.slice(until)]
}
