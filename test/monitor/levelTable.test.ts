/** Levels of single components of the log, changed while it runs. */
import { expect, test } from 'vitest'
import { loadConfig } from '../../src/config/loadConfig.ts'
import { changeLog, noteReading } from '../../src/daemon/logging/changeLog.ts'
import { componentLevelOf, logComponents } from '../../src/domain/logLevels.ts'
import { eventRegister } from '../../src/monitor/events/eventRegister.ts'
import { createLog, type LogOptions } from '../../src/monitor/log/log.ts'
import { host } from './events.ts'

function logOf(options: Partial<LogOptions> = {}) {
  const lines: string[] = []
  const stream = { write: (text: string) => lines.push(text) }
  const log = createLog({ level: 'info', format: 'json', now: () => 0, stream, ...options })
  /** Events of the lines since the last look. */
  const take = () => lines.splice(0).map((text) => (JSON.parse(text) as { readonly event: string }).event)
  return { log, lines, take }
}

/** Two events whose lines have level debug. */
function tell({ log }: ReturnType<typeof logOf>): void {
  log.listen({ type: 'host.cooldown', host, cooldownMs: 1, reason: 'one' })
  log.listen({ type: 'feed.read', feed: 'tickers', ageMs: 1 })
  log.listen({ type: 'tick.done', strategy: 'mine', durationMs: 1, decisions: 0 })
}

const load = (argv: readonly string[]) => loadConfig({ argv, env: {}, cwd: '/nowhere' })

test('a component is what stands before the first dot of an event, and each may have a level', () => {
  const ofEvents = new Set(Object.keys(eventRegister).map((name) => name.split('.')[0]))
  expect([...ofEvents].sort()).toEqual([...logComponents].sort())
  expect(componentLevelOf('host=debug')).toEqual({ component: 'host', level: 'debug' })
  for (const text of ['host', 'hosts=debug', 'host=loud', 'host=debug=info', '=debug']) {
    expect(componentLevelOf(text)).toBeUndefined()
  }
})

test('a component that has a level of its own is written by it, and the others by the level of all', () => {
  const made = logOf({
    levels: [
      { component: 'feed', level: 'debug' },
      { component: 'host', level: 'error' },
    ],
  })
  tell(made)
  expect(made.take()).toEqual(['feed.read'])
})

test('a level holds from the next line on, and the settings take it back', () => {
  const made = logOf()
  tell(made)
  expect(made.take()).toEqual(['host.cooldown'])
  made.log.levels.set('debug', 'tick')
  tell(made)
  expect(made.take()).toEqual(['tick.done'])
  made.log.levels.set('debug')
  tell(made)
  expect(made.take()).toEqual(['host.cooldown', 'feed.read', 'tick.done'])
  expect(made.log.levels.text()).toBe('debug; tick debug')
  const { level, components } = made.log.levels.inForce()
  expect([level, components.map(({ component }) => component)]).toEqual(['debug', logComponents])
  expect(components.filter(({ isOwn }) => isOwn)).toEqual([
    { component: 'tick', level: 'debug', isOwn: true },
  ])
  made.log.levels.take({ level: 'error', levels: [] })
  tell(made)
  expect([made.take(), made.log.levels.text()]).toEqual([[], 'error'])
})

test('what an operator or a reading of the settings changes is in the log, with who and with what was before', () => {
  const made = logOf()
  const source = { log: made.log, reload: () => load(['--log.levels', 'host=debug', '--log.level', 'warn']) }
  changeLog({ type: 'log', component: 'order', level: 'debug' }, 'ann', source)
  changeLog({ type: 'log', component: 'order', level: 'debug' }, 'ann', source)
  changeLog({ type: 'limits', isConfirmed: false, isPreview: true }, 'ann', source)
  changeLog({ type: 'limits', isConfirmed: false }, 'signal SIGHUP', source)
  expect(made.lines.map((text) => (JSON.parse(text) as { readonly message: string }).message)).toEqual([
    'levels of the log are info; order debug (info before), set by ann',
    'levels of the log are warn; host debug (info; order debug before), set by signal SIGHUP',
  ])
})

test('settings that cannot be read a moment later, as while their file is saved, leave the levels and the daemon as they are', () => {
  const made = logOf()
  const reload = () => load(['--log.level', 'loud'])
  expect(reload).toThrow()
  changeLog({ type: 'limits', isConfirmed: false }, 'signal SIGHUP', { log: made.log, reload })
  expect(made.log.levels.text()).toBe('info')
  expect(made.take()).toEqual(['log.levels'])
})

test('limits that change are told in one line, and a reading that changes none in one too', () => {
  const made = logOf()
  const limits = { type: 'limits', isConfirmed: false } as const
  const statement = 'in force: maxLeverage none -> 5x'
  made.log.listen({ type: 'limits.changed', statement, by: 'ann' })
  noteReading(limits, 'ann', { ok: true, statement, isChanged: true }, made.log)
  expect(made.take()).toEqual(['limits.changed'])
  noteReading(limits, 'ann', { ok: true, statement: 'the limits in force are the configured ones' }, made.log)
  noteReading(limits, 'ann', { ok: false, code: 'CONFIG_INVALID', reason: 'it cannot be used' }, made.log)
  noteReading({ ...limits, isPreview: true }, 'ann', { ok: true, statement }, made.log)
  expect(made.take()).toEqual(['operator.readAnew', 'operator.readAnew'])
})

test('a setting of a component that does not exist is an error that lists those that do', () => {
  expect(load(['--log.levels', 'host=debug,order=warn']).config.log.levels).toEqual([
    { component: 'host', level: 'debug' },
    { component: 'order', level: 'warn' },
  ])
  expect(() => load(['--log.levels', 'hots=debug'])).toThrow(/expected a list of COMPONENT=LEVEL.*windDown/)
})
