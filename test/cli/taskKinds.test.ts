/** `perpd task start`: the help of one kind, and the question for the kind. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { flagOf } from '../../src/operator/taskForms.ts'
import { taskRows } from '../../src/tasks/taskRows.ts'
import { bareEnv } from '../support/bareEnv.ts'
import { perpd } from './run.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-kinds-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

const names = taskRows.map(({ name }) => name)
const flagsOf = (help: string) => [...help.matchAll(/^ {2}--([a-z-]+)/gm)].map(([, flag]) => flag ?? '')
/** Flags that give a field of the kind. */
const ownOf = ({ fields }: (typeof taskRows)[number]) =>
  Object.entries(fields).flatMap(([name, field]) =>
    field.flagValue === undefined && field.flagGives === undefined ? [] : [flagOf(name, field)],
  )

test.each(names)('the help of %s shows the flags of that kind alone, and an example of it', async (name) => {
  const [row] = taskRows.filter((each) => each.name === name)
  if (row === undefined) throw new Error(name)
  const { code, out } = await perpd(cwd, ['task', 'start', name, '--help'])
  const given = flagsOf(out)
  const foreign = taskRows.flatMap(ownOf).filter((flag) => !ownOf(row).includes(flag))
  expect(code).toBe(0)
  expect(given).toEqual(expect.arrayContaining([...ownOf(row), 'leverage', 'max-fees', 'yes']))
  expect(given.filter((flag) => foreign.includes(flag))).toEqual([])
  expect(given.includes('reduce')).toBe(row.works === 'either')
  const lines = out.split('\n').filter((line) => line.startsWith('  perpd '))
  expect(lines).toEqual([`  perpd task start ${name} ${row.example} --yes`])
  expect(await perpd(cwd, ['help', 'task', 'start', name])).toMatchObject({ out })
})

test('a start without a kind, where nobody can be asked, is refused with the list of kinds', async () => {
  const { code, out, err } = await perpd(cwd, ['task', 'start'])
  expect([code, out]).toEqual([4, ''])
  for (const name of names) expect(err).toContain(name)
})

test('a start without a market is refused with an example of its kind', async () => {
  const [row] = taskRows.filter(({ name }) => name === 'chase')
  const { code, err } = await perpd(cwd, ['task', 'start', 'chase'])
  expect([code, err.includes(`perpd task start chase ${row?.example}`)]).toEqual([4, true])
})

const hasPty = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0

test.skipIf(!hasPty).each([`${names.indexOf('ladder') + 1}`, 'ladder'])(
  'at a terminal a start without a kind asks for it by numbers or names, in lines of a screen: %s',
  async (typed) => {
    const main = resolve(import.meta.dirname, '../support/guardedMain.ts')
    const command = `'${process.execPath}' '${main}' task start`
    const child = spawn('script', ['-qec', command, '/dev/null'], { cwd, env: bareEnv() })
    let said = ''
    let isAnswered = false
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      said += piece
      if (isAnswered || !said.includes('Type a number or a name: ')) return
      isAnswered = true
      child.stdin.write(`${typed}\r`)
    })
    const [code] = await once(child, 'close')
    const plain = stripVTControlCharacters(said)
    for (const [at, name] of names.entries())
      expect(plain).toMatch(new RegExp(`^ +${at + 1}  ${name}: `, 'm'))
    expect(
      plain.split(/\r?\n/).every(({ length }) => length <= 80),
      plain,
    ).toBe(true)
    expect([code, /perpd task start (\w+) /.exec(plain)?.[1]]).toEqual([4, 'ladder'])
  },
)
