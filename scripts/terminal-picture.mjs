/** Draws lines of a terminal, with their colours, as an SVG. */

const charWidth = 8.2
const lineHeight = 18
const margin = 16
const colours = { 31: '#ff7b72', 32: '#7ee787', 33: '#e3b341', 36: '#79c0ff' }
const ground = '#0d1117'
const ink = '#d0d7de'

export function picture(lines) {
  const columns = Math.max(...lines.map((line) => plain(line).length))
  const width = Math.ceil(columns * charWidth + 2 * margin)
  const height = Math.ceil(lines.length * lineHeight + 2 * margin)
  const rows = lines.map((line, index) => {
    const y = margin + (index + 1) * lineHeight - 5
    return `<text x="${margin}" y="${y}" xml:space="preserve">${spans(line)}</text>`
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="Belfry in a terminal">`,
    `<rect width="100%" height="100%" rx="8" fill="${ground}"/>`,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" fill="${ink}">`,
    ...rows,
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of them.
const code = /\u001b\[(\d+)m/g

function plain(line) {
  return line.replace(code, '')
}

/** The parts of a line between two colour codes, each with the look that the codes before it add up to. */
function spans(line) {
  const look = { fill: null, weight: null, dim: false }
  const parts = line.split(code)
  return parts.map((part, index) => (index % 2 === 1 ? change(look, Number(part)) : span(part, look))).join('')
}

function change(look, number) {
  if (number === 1) look.weight = 'bold'
  else if (number === 2) look.dim = true
  else if (number === 22) Object.assign(look, { weight: null, dim: false })
  else look.fill = colours[number] ?? null
  return ''
}

function span(text, { fill, weight, dim }) {
  if (text === '') return ''
  const style = [
    fill === null ? '' : ` fill="${fill}"`,
    weight === null ? '' : ` font-weight="${weight}"`,
    dim ? ' opacity="0.6"' : '',
  ].join('')
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return style === '' ? escaped : `<tspan${style}>${escaped}</tspan>`
}
