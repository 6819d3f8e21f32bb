const width = 760
const height = 340
const panel = { width: 290, height: 220, top: 56 }
const lefts = [64, 424]
const steps = [
  { field: 'fire100', name: 'fire', color: '#b3541e' },
  { field: 'lease100', name: 'lease', color: '#1f6f8b' },
  { field: 'settle100', name: 'settle', color: '#4a7c2c' },
]

/** Maps values onto a length, by their logarithms: each tenfold is as long as any other. */
export function logScale([least, most], [from, to]) {
  const [low, high] = [Math.log10(least), Math.log10(most)]
  return (value) => (high === low ? (from + to) / 2 : from + ((Math.log10(value) - low) / (high - low)) * (to - from))
}

/** The powers of ten that enclose all values. */
export function decades(values) {
  const low = Math.floor(Math.log10(Math.min(...values)))
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))))
  return Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index))
}

/** Cost against size, as an SVG that needs nothing else; null when there is nothing to draw. */
export function costPlot(results) {
  const rows = (results.measures.cost?.rows ?? []).filter(({ size }) => size !== undefined)
  if (rows.length === 0) return null
  const xs = decades(rows.map(({ size }) => size))
  const ys = decades(rows.flatMap((row) => steps.map(({ field }) => row[field])))
  const panels = [
    ['sqlite', 'SQLite'],
    ['postgres', 'PostgreSQL'],
  ].map(([database, label], index) => {
    const own = rows.filter((row) => row.database === database)
    return panelOf({ label, rows: own, left: lefts[index], xs, ys })
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    text(lefts[0], 22, 'Cost of a step of 100, in ms, against ready runs and schedules in the store', 'font-size="14"'),
    ...panels,
    ...legend(),
    '</svg>',
    '',
  ].join('\n')
}

function panelOf({ label, rows, left, xs, ys }) {
  const bottom = panel.top + panel.height
  const x = logScale([xs[0], xs.at(-1)], [left, left + panel.width])
  const y = logScale([ys[0], ys.at(-1)], [bottom, panel.top])
  const grid = [
    ...ys.map((value) => line(left, y(value), left + panel.width, y(value))),
    ...xs.map((value) => line(x(value), panel.top, x(value), bottom)),
  ]
  const marks = [
    ...ys.map((value) =>
      text(left - 6, y(value) + 4, Number(value.toPrecision(1)).toLocaleString('en'), 'text-anchor="end" fill="#555"'),
    ),
    ...xs.map((value) => text(x(value), bottom + 18, value.toLocaleString('en'), 'text-anchor="middle" fill="#555"')),
  ]
  return [
    text(left, panel.top - 10, label),
    ...grid,
    ...marks,
    ...steps.flatMap((step) => curve({ step, rows, x, y })),
  ].join('\n')
}

function curve({ step: { field, color }, rows, x, y }) {
  const points = rows.map((row) => [round(x(row.size)), round(y(row[field]))])
  return [
    `<polyline points="${points.map((point) => point.join(',')).join(' ')}" fill="none" stroke="${color}" stroke-width="2"/>`,
    ...points.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3" fill="${color}"/>`),
  ]
}

function legend() {
  return steps.map(({ name, color }, index) => text(lefts[0] + index * 70, height - 16, `● ${name}`, `fill="${color}"`))
}

function line(x1, y1, x2, y2) {
  return `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" stroke="#ddd"/>`
}

function text(x, y, words, more = '') {
  return `<text x="${round(x)}" y="${round(y)}"${more === '' ? '' : ` ${more}`}>${words}</text>`
}

function round(value) {
  return Math.round(value * 10) / 10
}
