/** Joins the modules of the command line into a few files: to load some two hundred takes longer than a command runs. */
import { chmodSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const root = fileURLToPath(new URL('..', import.meta.url))

const imported = /^(?:import|export)\b[^'"()]*?\bfrom\s*["'](\.[^"']+)["']|^import\s*["'](\.[^"']+)["']/gm

/** A module and what it imports, without what it loads on demand. */
function withImports(file, known = new Set()) {
  known.add(file)
  for (const [, from, alone] of readFileSync(file, 'utf8').matchAll(imported)) {
    const other = resolve(dirname(file), from ?? alone)
    if (!known.has(other)) withImports(other, known)
  }
  return known
}

/**
 * What the parts that can be left out have in common with the rest: one file, or each set of parts that share something would have its own.
 * Nothing in it may import `parts.js`, which waits for those parts.
 */
const optional = [...readFileSync(`${root}/dist/parts.js`, 'utf8').matchAll(/import\(['"](\.[^'"]+)['"]\)/g)].map(
  ([, path]) => resolve(root, 'dist', path),
)
const folders = optional.map((path) => `${dirname(path)}/`)
const shared = new Set(optional.flatMap((path) => [...withImports(path)]))
const isShared = (id) => shared.has(id) && !folders.some((folder) => id.startsWith(folder))

await build({
  root,
  configFile: false,
  logLevel: 'warn',
  build: {
    ssr: 'dist/cli.js',
    outDir: 'dist',
    emptyOutDir: false,
    target: 'node20',
    minify: false,
    rolldownOptions: {
      // Packages stay what they are: installed beside us, and updated without us.
      external: /^[^./]/,
      output: {
        entryFileNames: 'belfry.js',
        chunkFileNames: 'chunks/[name].js',
        codeSplitting: { groups: [{ name: 'kernel', test: isShared }] },
      },
    },
  },
})
chmodSync(`${root}/dist/belfry.js`, 0o755)
