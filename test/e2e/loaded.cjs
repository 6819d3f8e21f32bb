/** Told to Node before a program: writes the names of the packages that it loaded, when it ends, to where LOADED says. */
const { writeFileSync } = require('node:fs')

process.on('exit', () => {
  const names = Object.keys(require.cache).map((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1])
  writeFileSync(process.env.LOADED, [...new Set(names)].filter(Boolean).join('\n'))
})
