/**
 * Makes `docs/benchmarks.md` and its plot from the results of a run.
 *
 *   node bench/page.mjs [bench/results.json]
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { shown } from './figures.mjs'
import { costPlot } from './plot.mjs'
import { sectionsOf } from './sections.mjs'
import { markdownTable } from './table.mjs'

const here = fileURLToPath(import.meta.url)

/** The page, whole. It says nothing that is not in the results. */
export function pageOf(results) {
  return [
    '# Benchmarks',
    '<!-- Made by `node bench/page.mjs` from bench/results.json. -->',
    opening(results),
    '## The machine',
    markdownTable(conditions(results)),
    ...sectionsOf(results).flatMap(section),
    '## How each is set',
    settings(results),
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n')
}

export function plotsOf(results) {
  const plot = costPlot(results)
  return plot === null ? {} : { 'cost.svg': plot }
}

function opening({ quick, rounds, absent }) {
  const haste = quick
    ? '**These figures come from a quick run** (`npm run bench -- --quick`): fewer jobs and smaller stores, good for a first look and for nothing else.'
    : 'These figures come from a full run.'
  const missing = absent.map(({ contestant, reason }) => `${contestant} was not there: ${reason}.`)
  return [
    'Belfry beside its peers: all in one run on one machine, each with its history kept and with settings that lose nothing',
    'that was acknowledged, where a peer can do that. `npm run bench` repeats it.',
    `Figures are medians over rounds that all take by turns, each round in a process of its own with a fresh database: ${roundsTold(rounds)}.`,
    haste,
    ...missing,
  ].join('\n')
}

function roundsTold(rounds) {
  return rounds < 3
    ? `three rounds of throughput, calendar and governor, ${rounds} of everything else`
    : `${rounds} rounds of everything`
}

function conditions({ conditions: told, tookSeconds }) {
  const { fsync, loadBefore, peers } = told
  const rows = [
    ['date', told.date],
    ['processor', `${told.cpu}, ${told.cores} cores, ${told.memoryGb} GB`],
    ['load before', loadBefore],
    ['fsync of 4 KB on the same disk', `p50 ${shown(fsync.p50)} ms, p99 ${shown(fsync.p99)} ms`],
    ['Node', `${told.node}, ${told.platform}`],
    ['SQLite · PostgreSQL · Redis', `${told.sqlite} · ${told.postgres} · ${told.redis ?? 'none'}`],
    [
      'peers',
      Object.entries(peers)
        .map(([name, version]) => `${name} ${version ?? '(absent)'}`)
        .join(', '),
    ],
    ['the whole run took', `${Math.round(tookSeconds / 60)} min`],
  ]
  return { columns: ['', 'of this run'], rows }
}

function section({ title, text, beside, columns, rows, plot }) {
  const told = beside === undefined ? text : `${text} Just before, ${beside}.`
  const picture = plot === undefined ? [] : [`![${title}](benchmarks/${plot})`]
  return [`## ${title}`, told, markdownTable({ columns, rows }), ...picture]
}

function settings({ contestants }) {
  return contestants.map(({ name, how }) => `- **${name}**: ${how}`).join('\n')
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === here) {
  const results = JSON.parse(readFileSync(process.argv[2] ?? new URL('results.json', import.meta.url), 'utf8'))
  const docs = fileURLToPath(new URL('../docs/', import.meta.url))
  mkdirSync(`${docs}benchmarks`, { recursive: true })
  writeFileSync(`${docs}benchmarks.md`, pageOf(results))
  for (const [name, plot] of Object.entries(plotsOf(results))) writeFileSync(`${docs}benchmarks/${name}`, plot)
}
