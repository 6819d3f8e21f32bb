/** Joins the modules of the command line into a few files: to load some two hundred takes longer than a command runs. */
import { chmodSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const root = fileURLToPath(new URL('..', import.meta.url))

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
      output: { entryFileNames: 'belfry.js', chunkFileNames: 'chunks/[name].js' },
    },
  },
})
chmodSync(`${root}/dist/belfry.js`, 0o755)
