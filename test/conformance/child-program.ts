import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const root = fileURLToPath(new URL('../..', import.meta.url))
const sources = `${root}src/`

/** Makes of `child.ts` a program that node can start. What it imports from the sources is the built product. */
export async function childProgram(): Promise<URL> {
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    plugins: [{ name: 'built-product', enforce: 'pre', resolveId: builtOf }],
    build: {
      ssr: 'test/conformance/child.ts',
      outDir: 'build/conformance',
      target: 'node20',
      minify: false,
      rolldownOptions: { external: /^[^./]/, output: { entryFileNames: 'child.js' } },
    },
  })
  return new URL('../../build/conformance/child.js', import.meta.url)
}

function builtOf(source: string, importer: string | undefined) {
  if (importer === undefined || !source.startsWith('.')) return null
  const path = fileURLToPath(new URL(source, `file://${importer}`))
  if (!path.startsWith(sources)) return null
  return { id: `${root}dist/${path.slice(sources.length).replace(/\.ts$/, '.js')}`, external: 'absolute' as const }
}
