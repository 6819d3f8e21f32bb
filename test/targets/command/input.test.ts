import { describe, expect, it } from 'vitest'
import { commandTargetProblems, resolveCommandTarget } from '../../../src/targets/command/command-target.ts'

describe('a command target that is right', () => {
  it.each<[Record<string, unknown>]>([
    [{ command: 'echo hello | tee log' }],
    [{ command: ['node', 'job.js', '', '--day', { secret: 'DAY' }] }],
    [{ command: ['/usr/bin/env'], cwd: '/srv', env: { A: '', _b2: 'x', KEY: { secret: 'KEY' }, PATH: '/bin' } }],
    [{ command: ['true'], cwd: undefined, env: undefined }],
  ])('%j', (target) => {
    expect(commandTargetProblems(target)).toEqual([])
  })
})

describe('a command target that is not right is refused, with the place and what would be right', () => {
  it.each<[Record<string, unknown>, string, RegExp]>([
    [{}, 'command', /is missing/],
    [{ command: 5 }, 'command', /is the number 5/],
    [{ command: null }, 'command', /is null/],
    [{ command: { secret: 'LINE' } }, 'command', /is a secret/],
    [{ command: ' \n' }, 'command', /is empty/],
    [{ command: 'echo \0' }, 'command', /NUL character at position 5/],
    [{ command: [] }, 'command', /is an empty list/],
    [{ command: [''] }, 'command[0]', /is empty/],
    [{ command: [7, 'a'] }, 'command[0]', /is the number 7/],
    [{ command: [{ secret: 'PROGRAM' }] }, 'command[0]', /is a secret/],
    [{ command: ['-rf'] }, 'command[0]', /begins with a dash/],
    [{ command: ['./tool'] }, 'command[0]', /is a relative path/],
    [{ command: ['a\0b'] }, 'command[0]', /NUL/],
    [{ command: ['a', 'b', 'c\0'] }, 'command[2]', /NUL character at position 1/],
    [{ command: ['a', '\ud800'] }, 'command[1]', /half of a surrogate pair/],
    [{ command: ['a', 5] }, 'command[1]', /is the number 5/],
    [{ command: ['a', ['b']] }, 'command[1]', /is a list/],
    [{ command: ['a', { secret: 'KEY', more: 1 }] }, 'command[1]', /is an object/],
    [{ command: ['a', { secret: '../key' }] }, 'command[1].secret', /is not the name of a secret/],
    [{ command: ['a'], cwd: 'srv' }, 'cwd', /is a relative path/],
    [{ command: ['a'], cwd: '' }, 'cwd', /is empty/],
    [{ command: ['a'], cwd: null }, 'cwd', /is null/],
    [{ command: ['a'], cwd: '/a\0' }, 'cwd', /NUL/],
    [{ command: ['a'], env: ['A=1'] }, 'env', /is a list/],
    [{ command: ['a'], env: { secret: 'ALL' } }, 'env', /is a secret/],
    [{ command: ['a'], env: { A: 1 } }, 'env.A', /is the number 1/],
    [{ command: ['a'], env: { A: undefined } }, 'env.A', /is missing/],
    [{ command: ['a'], env: { A: 'x\0' } }, 'env.A', /NUL/],
    [{ command: ['a'], env: { 'A-B': 'x' } }, 'env["A-B"]', /shells cannot pass on/],
    [{ command: ['a'], env: { '': 'x' } }, 'env[""]', /shells cannot pass on/],
    [{ command: ['a'], env: { BELFRY_RUN: 'x' } }, 'env.BELFRY_RUN', /begins with BELFRY_/],
    [{ command: ['a'], env: { IFS: 'x' } }, 'env.IFS', /shells set by themselves/],
    [{ command: ['a'], shell: true }, 'shell', /is not known/],
    [{ command: ['a'], timeout: '5s' }, 'timeout', /is not known/],
  ])('%j', (target, field, problem) => {
    const problems = commandTargetProblems(target)
    expect(problems).toEqual([{ field, problem: expect.stringMatching(problem), expected: expect.stringMatching(/./) }])
  })

  it('and everything that is wrong is named at once', () => {
    const problems = commandTargetProblems({ command: ['', 5], cwd: 1, env: { 'a b': 2 }, other: 1 })
    expect(problems.map(({ field }) => field)).toEqual([
      'other',
      'command[0]',
      'command[1]',
      'cwd',
      'env["a b"]',
      'env["a b"]',
    ])
  })
})

describe('paths are resolved when the target is written', () => {
  const cwd = '/home/bell'

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['a relative program', { command: ['./job', './a'] }, { command: ['/home/bell/job', './a'] }],
    ['one in a folder below', { command: ['bin/job'] }, { command: ['/home/bell/bin/job'] }],
    ['a relative cwd', { command: ['job'], cwd: 'srv' }, { command: ['job'], cwd: '/home/bell/srv' }],
    [
      'both: a shell there would look there',
      { command: ['./job'], cwd: '../srv' },
      { command: ['/home/srv/job'], cwd: '/home/srv' },
    ],
    ['beside an absolute cwd', { command: ['./job'], cwd: '/srv' }, { command: ['/srv/job'], cwd: '/srv' }],
  ])('%s', (_, target, resolved) => {
    expect(resolveCommandTarget(target, cwd)).toEqual(resolved)
  })

  it.each<[string, Record<string, unknown>]>([
    ['a bare name is looked up where it runs', { command: ['node', './job.js'] }],
    ['what is absolute', { command: ['/a/../b'], cwd: '/c/../d' }],
    ['a line for the shell', { command: './job --now' }],
    ['what is not right is left to be refused', { command: ['', 5], cwd: '' }],
    ['nor does it make up a command', { command: 7, cwd: null }],
  ])('and %s stays as it is', (_, target) => {
    const before = structuredClone(target)
    expect(resolveCommandTarget(target, cwd)).toEqual(before)
    expect(target).toEqual(before)
  })
})
